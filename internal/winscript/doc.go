// Package winscript reads PowerShell and cmd scripts as Windows does, as far as
// it can be told without running them: which commands a script has executed, and
// with which arguments.
//
// It follows constants, functions, script blocks, splatting, and programs that
// run others (Start-Process, cmd /c, powershell -Command). Of a condition it
// takes both ways. It runs nothing, and it isn't a full grammar: whether
// PowerShell takes a script is internal/powershell's to tell.
//
// The grammar is that of about_Parsing, about_Quoting_Rules and PowerShell's own
// tokenizer (https://github.com/PowerShell/PowerShell, engine/parser).
package winscript
