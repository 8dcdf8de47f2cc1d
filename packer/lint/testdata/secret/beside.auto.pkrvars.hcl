of_a_var_file_password = "Winter-2026"
