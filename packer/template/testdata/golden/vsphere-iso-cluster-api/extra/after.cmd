exit /b 0
