package winscript

import (
	"slices"
	"strings"
)

// Command is one command that a script has executed, or a method of an object
// that it calls: its name begins with a dot then.
type Command struct {
	// Name is in lower case, without folder and .exe; an alias is what it is
	// short for.
	Name string
	Args []Arg
	// Input is what comes to it through the pipeline.
	Input Value
	// Object is what a method is called of, in its source's words.
	Object string
	// Into is the variable that takes its result, "" for none.
	Into string
	// Compared: its result is compared with something.
	Compared bool
	// Excused: it is in a try whose catch lets the script go on.
	Excused bool
	Line    int
	// Order counts the commands of a script.
	Order int
}

// Arg is one argument. A flag's value is with the flag.
type Arg struct {
	Flag  string // without its dash, in lower case; "" for none
	Value Value
}

// Words are the arguments in their order, those of which one is one of several
// after another, and a hash table's entries as KEY=VALUE.
func (c Command) Words() []string {
	var out []string
	for _, a := range c.Args {
		if a.Flag != "" {
			out = append(out, "-"+a.Flag)
		}
		out = append(out, a.Value.Texts...)
		for _, t := range a.Value.tables {
			for _, key := range sorted(t) {
				out = append(out, key+"="+strings.Join(t[key].Texts, ","))
			}
		}
	}
	return out
}

// Text is the whole command in lower case, for what depends on no order.
func (c Command) Text() string {
	return strings.ToLower(strings.Join(append([]string{c.Name}, c.Words()...), " "))
}

// Known reports whether all arguments are.
func (c Command) Known() bool {
	return !slices.ContainsFunc(c.Args, func(a Arg) bool { return a.Value.Open })
}

// Flag reports whether a switch is set, by its name or how that begins.
func (c Command) Flag(name string) bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool {
		return a.Flag != "" && strings.HasPrefix(name, a.Flag) && !a.Value.Has("$false")
	})
}

// Param is what a cmdlet's parameter is given: by its name, by how that begins,
// by its place among those that have one, or through the pipeline. A place of -1
// is none.
func (c Command) Param(name string, place int) Value {
	var out Value
	n := 0
	for _, a := range c.Args {
		switch {
		case a.Flag != "" && strings.HasPrefix(name, a.Flag):
			out = out.and(a.Value)
		case a.Flag == "", switches[a.Flag] && !a.Value.empty(): // a switch's value is a place's own
			if n == place {
				out = out.and(a.Value)
			}
			n++
		}
	}
	if out.empty() && place == 0 {
		return c.Input
	}
	return out
}

// switches are flags without a value: what is behind one is another argument.
var switches = map[string]bool{"force": true, "wait": true, "passthru": true, "nonewwindow": true, "online": true, "recurse": true, "append": true,
	"quiet": true, "usebasicparsing": true, "asplaintext": true, "verbose": true, "useb": true, "noprofile": true, "nop": true, "includemanagementtools": true,
	"includeallsubfeature": true, "restart": true, "norestart": true, "all": true, "noninteractive": true, "nologo": true, "allowclobber": true}

// aliases are PowerShell's own that scripts use, of Get-Alias in Windows
// PowerShell 5.1.
var aliases = map[string]string{
	"%": "foreach-object", "foreach": "foreach-object", "?": "where-object", "where": "where-object", "select": "select-object",
	"iwr": "invoke-webrequest", "curl": "invoke-webrequest", "wget": "invoke-webrequest", "irm": "invoke-restmethod", "iex": "invoke-expression",
	"icm": "invoke-command", "saps": "start-process", "start": "start-process", "sasv": "start-service", "spsv": "stop-service", "gsv": "get-service",
	"sc": "set-content", "ac": "add-content", "gc": "get-content", "cat": "get-content", "type": "get-content", "sp": "set-itemproperty",
	"gp": "get-itemproperty", "rp": "remove-itemproperty", "ri": "remove-item", "rm": "remove-item", "del": "remove-item", "erase": "remove-item",
	"rd": "remove-item", "rmdir": "remove-item", "ni": "new-item", "mi": "move-item", "mv": "move-item", "move": "move-item", "cp": "copy-item",
	"copy": "copy-item", "cpi": "copy-item", "ren": "rename-item", "rni": "rename-item", "gci": "get-childitem", "ls": "get-childitem", "dir": "get-childitem",
	"gi": "get-item", "si": "set-item", "sv": "set-variable", "nv": "new-variable", "sal": "set-alias", "nal": "new-alias", "echo": "write-output",
	"write": "write-output", "sleep": "start-sleep", "sajb": "start-job", "ipmo": "import-module", "gwmi": "get-wmiobject", "iwmi": "invoke-wmimethod",
	"add-windowsfeature": "install-windowsfeature", "cd": "set-location", "sl": "set-location", "md": "mkdir", "rnp": "rename-itemproperty", "measure": "measure-object",
}

// programName is a command's name without its folder, quotes and .exe.
func programName(name string) string {
	name = strings.ToLower(strings.TrimSpace(unquoted(name)))
	name = name[strings.LastIndexAny(name, `\/`)+1:]
	return strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".com")
}
