@echo off
rem Removes csi-proxy from a Windows node that WMCO doesn't manage.
rem Safe to run again. Programs and logs stay. Run it as an administrator.
rem Made by: bake manifests setup-script --undo
setlocal EnableExtensions DisableDelayedExpansion
set "sc=%SystemRoot%\System32\sc.exe"
"%sc%" query windows-instance-config-daemon >nul 2>&1
if errorlevel 1 goto ours
if /i "%~1"=="/force" goto ours
>&2 echo error: WMCO manages this node, and puts back what this script removes.
>&2 echo fix: leave the node to WMCO, or run: "%~nx0" /force
exit /b 1
:ours

rem ---- csi-proxy
set "name=csi-proxy"
set "exe=C:\k\csi-proxy.exe"
set "image=csi-proxy.exe"
set "log=C:\var\log\csi-proxy"
set "alone=1"
call :open
if errorlevel 1 exit /b 1
call :remove
if errorlevel 1 exit /b 1
rem Without /s: a folder that holds logs stays.
if exist "%log%" rmdir "%log%" >nul 2>&1

exit /b 0

rem ---- what the services have in common

:open
rem there: the service exists.
set "key=HKLM\SYSTEM\CurrentControlSet\Services\%name%"
set "there="
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

:remove
if defined there goto delete
echo %name%: isn't there
exit /b 0
:delete
call :stop
if errorlevel 1 exit /b 1
"%sc%" delete %name% >nul
set "rc=%errorlevel%"
set "n=0"
:deleting
"%sc%" query %name% >nul 2>&1
if errorlevel 1 goto deleted
set /a n+=1
if %n% geq 10 goto not_deleted
call :second
goto deleting
:deleted
echo %name%: removed
exit /b 0
:not_deleted
>&2 echo error: service %name% is still there, sc.exe answered %rc%
if "%rc%"=="5" >&2 echo fix: run as an administrator
if not "%rc%"=="5" >&2 echo fix: it goes once nothing has it open: close the Services console, or restart the node
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

