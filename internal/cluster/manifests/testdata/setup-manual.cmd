@echo off
rem Sets up csi-proxy on a Windows node that WMCO doesn't manage.
rem Safe to run again: a service that is right and runs is left alone.
rem Run it as an administrator. Its undo: bake manifests setup-script --undo
rem Made by: bake manifests setup-script
setlocal EnableExtensions DisableDelayedExpansion
set "sc=%SystemRoot%\System32\sc.exe"
"%sc%" query windows-instance-config-daemon >nul 2>&1
if errorlevel 1 goto ours
if /i "%~1"=="/force" goto ours
>&2 echo error: WMCO manages this node. At its next bootstrap it deletes what this script sets up and sets up its own.
>&2 echo fix: leave the node to WMCO, or run: "%~nx0" /force
exit /b 1
:ours

rem ---- csi-proxy
"%sc%" query csiproxy >nul 2>&1
if not errorlevel 1 (
  >&2 echo error: service csiproxy is on this node, and two of them fight for the same pipes
  >&2 echo fix: sc.exe stop csiproxy ^& sc.exe delete csiproxy
  exit /b 1
)
set "name=csi-proxy"
set "exe=C:\k\csi-proxy.exe"
set "image=csi-proxy.exe"
set "log="
set "alone=1"
call :open
if errorlevel 1 exit /b 1
set "want=C:\k\csi-proxy.exe"
call :compare ImagePath restart
set "want=0x3"
call :compare Start
set "want=0x0"
call :compare DelayedAutostart
set "want=LocalSystem"
call :compare ObjectName restart
set "want="
call :compare DependOnService
set "want=CSI Proxy"
call :compare DisplayName
if defined there goto have_1
"%sc%" create csi-proxy binPath= "C:\k\csi-proxy.exe" start= demand obj= "LocalSystem" DisplayName= "CSI Proxy" >nul
set "rc=%errorlevel%"
goto set_1
:have_1
if not defined differs goto set_1
"%sc%" config csi-proxy binPath= "C:\k\csi-proxy.exe" start= demand obj= "LocalSystem" DisplayName= "CSI Proxy" depend= / >nul
set "rc=%errorlevel%"
:set_1
set "want=C:\k\csi-proxy.exe"
call :check
if errorlevel 1 exit /b 1
"%sc%" description csi-proxy "Storage operations on this node for CSI drivers in containers" >nul
echo %name%: set up, and not started: its start type is manual

exit /b 0

rem ---- what the services have in common

:open
rem there: the service exists.
set "key=HKLM\SYSTEM\CurrentControlSet\Services\%name%"
set "there="
set "differs="
set "restart="
set "rc=0"
if not exist "%exe%" (
  >&2 echo error: "%exe%" isn't on this node, and service %name% runs it
  >&2 echo fix: copy it there first, out of the folder that this writes: bake payload --dir out
  exit /b 1
)
"%sc%" query %name% >nul 2>&1
if errorlevel 1 exit /b 0
set "there=1"
rem It is ours if its command begins with our program, quoted or not. find.exe
rem counts the spaces that reg.exe writes before a value.
if "%exe%"=="%exe: =%" goto by_word
"%SystemRoot%\System32\reg.exe" query "%key%" /v ImagePath 2>nul | "%SystemRoot%\System32\find.exe" /i "_SZ    %exe%" >nul
if not errorlevel 1 exit /b 0
"%SystemRoot%\System32\reg.exe" query "%key%" /v ImagePath 2>nul | "%SystemRoot%\System32\find.exe" /i "_SZ    ""%exe%""" >nul
if not errorlevel 1 exit /b 0
goto foreign
:by_word
for /f "tokens=1,2,3" %%a in ('%SystemRoot%\System32\reg.exe query "%key%" /v ImagePath 2^>nul') do if /i "%%a"=="ImagePath" if /i "%%~c"=="%exe%" exit /b 0
:foreign
>&2 echo error: there is a service %name% that doesn't run "%exe%"
>&2 echo fix: see what it is, and remove it if nobody needs it: sc.exe qc %name%, sc.exe delete %name%
exit /b 1

:logs
rem A program that can't open its log file ends at once.
if exist "%log%\*" exit /b 0
mkdir "%log%" >nul 2>&1
if exist "%log%\*" exit /b 0
>&2 echo error: the folder "%log%" can't be made, and %name% writes its log there
>&2 echo fix: run as an administrator; see that no file has that name
exit /b 1

:read
rem VALUE: have is that value of the service's key, empty if there is none.
set "have="
for /f "tokens=1,2,*" %%a in ('%SystemRoot%\System32\reg.exe query "%key%" /v %~1 2^>nul') do if /i "%%a"=="%~1" set "have=%%c"
exit /b 0

:compare
rem VALUE [restart]: notes that the service's value isn't want.
call :read %~1
call :equal
if defined same exit /b 0
set "differs=1"
if "%~2"=="restart" set "restart=1"
exit /b 0

:equal
rem same: have is want, or none where want is a default that isn't stored.
set "same="
setlocal EnableDelayedExpansion
if "!have!"=="!want!" goto is_equal
if not defined have if "!want!"=="0x0" goto is_equal
endlocal
exit /b 0
:is_equal
endlocal
set "same=1"
exit /b 0

:check
rem The service has the command that it was given: codes of sc.exe aside.
call :read ImagePath
call :equal
if defined same exit /b 0
>&2 echo error: service %name% can't be set up, sc.exe answered %rc%
if "%rc%"=="5" >&2 echo fix: run as an administrator
if "%rc%"=="1072" >&2 echo fix: it is being deleted: close the Services console and whatever else has it open, and run again
exit /b 1

:start
"%sc%" query %name% | "%SystemRoot%\System32\find.exe" ": 4 " >nul
if errorlevel 1 goto stopped
if defined restart goto again
echo %name%: set up and running
exit /b 0
:again
call :stop
if errorlevel 1 exit /b 1
:stopped
if defined alone "%SystemRoot%\System32\taskkill.exe" /f /im "%image%" >nul 2>&1
"%sc%" start %name% >nul
set "rc=%errorlevel%"
set "n=0"
:starting
"%sc%" query %name% | "%SystemRoot%\System32\find.exe" ": 4 " >nul
if not errorlevel 1 goto started
set /a n+=1
if %n% geq 30 goto not_started
"%sc%" query %name% | "%SystemRoot%\System32\find.exe" ": 1 " >nul
if not errorlevel 1 if %n% geq 3 goto not_started
call :second
goto starting
:started
rem A program that gives up does so within its first seconds.
call :second
call :second
"%sc%" query %name% | "%SystemRoot%\System32\find.exe" ": 4 " >nul
if errorlevel 1 goto not_started
echo %name%: set up and running
exit /b 0
:not_started
>&2 echo error: service %name% is set up and doesn't run, sc.exe answered %rc%
if defined log >&2 echo fix: see the newest file in "%log%" and the System event log
if not defined log >&2 echo fix: see the System event log
exit /b 1

:stop
rem Stopped is: the state, and the process too. csi-proxy's outlives the state.
set "pid="
for /f "tokens=3" %%p in ('%SystemRoot%\System32\sc.exe queryex %name% 2^>nul ^| %SystemRoot%\System32\find.exe "PID"') do set "pid=%%p"
"%sc%" stop %name% >nul 2>&1
set "rc=%errorlevel%"
if "%rc%"=="1051" (
  >&2 echo error: services that depend on %name% are running
  >&2 echo fix: stop them first; sc.exe enumdepend %name%
  exit /b 1
)
set "n=0"
:stopping
"%sc%" query %name% | "%SystemRoot%\System32\find.exe" ": 1 " >nul
if not errorlevel 1 goto end
set /a n+=1
if %n% geq 30 goto not_stopped
call :second
goto stopping
:not_stopped
if defined pid goto end
>&2 echo error: service %name% doesn't stop, sc.exe answered %rc%
exit /b 1
:end
if not defined pid goto end_image
if "%pid%"=="0" goto end_image
"%SystemRoot%\System32\taskkill.exe" /f /pid %pid% /fi "IMAGENAME eq %image%" >nul 2>&1
:end_image
if defined alone "%SystemRoot%\System32\taskkill.exe" /f /im "%image%" >nul 2>&1
exit /b 0

:second
rem timeout.exe wants a console, which a session over SSH doesn't have.
"%SystemRoot%\System32\ping.exe" -n 2 127.0.0.1 >nul
exit /b 0

