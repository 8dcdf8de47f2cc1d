// Package winscript reads PowerShell and cmd scripts as Windows does, as far as
// it can be told without running them: whether Windows PowerShell 5.1, which
// every Windows Server has, takes a script, and which commands a script has
// executed, with which arguments. Where PowerShell isn't, nothing else says so
// before the script runs.
//
// One parser reads PowerShell for both. It is lenient: what it isn't sure of, it
// takes, and behind an error it goes on. That a command exists, or has a
// parameter, isn't syntax. Commands are found by following constants, functions,
// script blocks, splatting, and programs that run others (Start-Process, cmd /c,
// powershell -Command); of a condition both ways are taken. Nothing is run.
//
// The grammar is the language's
// (https://learn.microsoft.com/powershell/scripting/lang-spec/chapter-15),
// about_Parsing and about_Quoting_Rules, and that of PowerShell's own tokenizer
// (https://github.com/PowerShell/PowerShell, engine/parser) where they differ.
package winscript
