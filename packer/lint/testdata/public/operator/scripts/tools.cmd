e:\setup64 /s /v "/qn REBOOT=R"
