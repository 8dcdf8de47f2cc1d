package command

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// aliased are calls of sc in PowerShell, where it is an alias of Set-Content.
var aliased = regexp.MustCompile(`^set-content (?:(?:delete|start|stop) [\w.-]+$|(?:create|config|failure) .*=)`)

// unquoted is a path with a space behind msiexec's /i, without quotes: Start-Process
// puts none around arguments.
var unquoted = regexp.MustCompile(`^start-process .*msiexec.*\s/(?:i|package)\s+[a-z]:\\program files`)

// waits are ways in which a script of PowerShell waits for a program with a window.
var waits = regexp.MustCompile(`(?i)wait|sleep|\bwhile\b|\bdo\b|get-process|msiexec[^\n;]*\||cmd(\.exe)?["']? +/c`)

// Slip says why a command of a script in this language doesn't do what it is written for, ""
// for nothing.
func Slip(c winscript.Command, language, script string) (what, why, remedy string) {
	text := c.Text()
	switch {
	case c.Name == "msiexec" && language == "powershell" && !waits.MatchString(script):
		return "nothing waits for msiexec", "it has a window, and PowerShell goes on at once: the next step runs beside it, or sysprep does, and nobody sees its failure",
			"$p = Start-Process msiexec.exe -ArgumentList ... -Wait -PassThru, and throw where $p.ExitCode isn't 0 or 3010"
	case aliased.MatchString(text):
		return strings.Replace(text, "set-content", "sc", 1), "sc is Set-Content in PowerShell: it writes a file, and no service is touched", "sc.exe in place of sc"
	case c.Name == "program" && strings.HasPrefix(text, "program files"):
		return `a program C:\Program`, "the path has a space and no quotes: nothing is started", `& "C:\Program Files\..." in PowerShell, and quotes in cmd`
	case unquoted.MatchString(text):
		return "msiexec with a path without quotes", "Start-Process joins arguments with spaces, and msiexec ends with its help", "quotes in the argument: '/i \"C:\\Program Files\\...\"'"
	}
	return "", "", ""
}

// Restarts reports whether a command restarts the machine.
func Restarts(c winscript.Command) bool {
	switch c.Name {
	case "restart-computer":
		return true
	case "shutdown":
		return strings.Contains(c.Text(), " /r") || strings.Contains(c.Text(), " -r")
	case "install-windowsfeature":
		return c.Flag("restart")
	}
	return c.Flag("autoreboot")
}

// Installs reports whether a command puts a part of Windows, a program or a service into it.
func Installs(c winscript.Command) bool {
	text := c.Text()
	switch c.Name {
	case "install-windowsfeature", "enable-windowsoptionalfeature", "add-windowscapability", "new-service", "winbake-node":
		return true
	case "dism":
		return strings.Contains(text, "/enable-feature") || strings.Contains(text, "/add-package")
	case "sc":
		return strings.Contains(text, " create ")
	case "get-windowsupdate":
		return c.Flag("install")
	}
	return false
}

// What dism installs for a node, a script that ends with 0 after it, and one that reads what
// a program ends with.
var (
	installed = regexp.MustCompile(`/enable-feature.*containers|/add-capability.*openssh\.server|/add-package`)
	endsWith0 = regexp.MustCompile(`(?is)\bdism\b.*[\s;&{]exit\s+(/b\s+)?0\b`)
	readsCode = regexp.MustCompile(`(?i)lastexitcode|errorlevel|exitcode|\|\||\$\?`)
)

// Unread reports whether what dism ends with is read nowhere in a script that says itself
// that it went well.
func Unread(dism winscript.Command, script string) bool {
	return installed.MatchString(dism.Text()) && endsWith0.MatchString(script) && !readsCode.MatchString(script)
}
