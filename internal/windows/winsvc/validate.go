package winsvc

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/printable"
)

// maxCommand leaves room for escaping every character within the 8191 that
// cmd.exe takes on a line.
const maxCommand = 4000

var (
	// nameForm is narrower than the service manager's rule (256 characters
	// without slashes): nothing in it means anything to a shell.
	nameForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`)
	expandsForm = regexp.MustCompile(`%[^%\s]+%`)
	pipeForm    = regexp.MustCompile(`^\\\\\.\\pipe\\[^\\/:*?"<>|]+$`)
)

// Validate checks services one by one and against each other: by the rules of
// the service manager, and by those of WMCO
// (pkg/servicescm/servicescm.go of
// https://github.com/openshift/windows-machine-config-operator).
func Validate(services []Service) []Problem {
	p := &problems{}
	for i, s := range services {
		p.service = i
		p.one(s)
	}
	p.unique(services)
	p.dependencies(services)
	p.priorities(services)
	return p.found
}

// ValidateOne checks a service by the rules that hold whatever stands beside
// it.
func ValidateOne(s Service) []Problem {
	p := &problems{}
	p.one(s)
	return p.found
}

func (p *problems) one(s Service) {
	p.name(s)
	p.words(s)
	p.program(s)
	p.account(s)
	p.logs(s)
	p.environment(s)
	p.recovery(s)
	p.variables(s)
}

func (p *problems) name(s Service) {
	switch {
	case !nameForm.MatchString(s.Name):
		p.add("name", "write letters, digits, dots, dashes and underscores, at most 80", "a service can't be called %q", s.Name)
	case strings.EqualFold(s.Name, WICDName):
		p.add("name", "leave it out: the operator sets it up over SSH", "%s is WMCO's own daemon", s.Name)
	case KnownWindowsService(s.Name):
		p.add("name", "give it another name", "%s is a service of Windows itself", s.Name)
	}
	if !slices.Contains(Starts(), s.Start) {
		p.add("start", "write automatic, delayed, manual or disabled", "start can't be %q", s.Start)
	}
}

// words are what people read of a service.
func (p *problems) words(s Service) {
	for _, word := range [][2]string{{"display", s.Display}, {"description", s.Description}} {
		field, text := word[0], word[1]
		if !isPrintable(text) || utf8.RuneCountInString(text) > 256 {
			p.add(field, "write one line of at most 256 characters", "%s can't be %s", field, printable.Quote(text))
		}
	}
	if strings.Contains(s.Description, "OpenShift managed") {
		p.add("description", "write another description", `WMCO deletes each service whose description holds "OpenShift managed"`)
	}
}

func (p *problems) program(s Service) {
	if !LegalPath(s.Path) || !strings.EqualFold(s.Path[max(0, len(s.Path)-4):], ".exe") {
		p.add("path", `write the whole path, such as C:\k\csi-proxy.exe`, "%s isn't a program on a Windows node", printable.Quote(s.Path))
	}
	for i, a := range s.Arguments {
		switch {
		case !isPrintable(a):
			p.item("args", i, "write it in one line", "argument %s holds a character that no command line can hold", printable.Quote(a))
		case expandsForm.MatchString(a):
			p.item("args", i, "write the value itself", "Windows replaces %s in a service's command with a variable's value", expandsForm.FindString(a))
		}
	}
	if n := utf8.RuneCountInString(s.Command()); n > maxCommand {
		p.add("args", "put settings into a file", "the command line has %d characters; at most %d can be written to a script", n, maxCommand)
	}
	for i, pipe := range s.Pipes {
		if !pipeForm.MatchString(pipe) || !isPrintable(pipe) {
			p.item("pipes", i, `write \\.\pipe\NAME`, "%s isn't the name of a pipe", printable.Quote(pipe))
		}
	}
}

// account refuses what needs a password: it would stand in a file.
func (p *problems) account(s Service) {
	name := strings.ToLower(s.AccountName())
	builtin := name == "localsystem" || name == `nt authority\localservice` || name == `nt authority\networkservice` || strings.HasPrefix(name, `nt service\`)
	switch managed := strings.HasSuffix(name, "$") && strings.Contains(name, `\`); {
	case !isPrintable(s.Account) || strings.ContainsAny(s.Account, "\"%") || !builtin && !managed:
		p.add("account", `write LocalSystem, NT AUTHORITY\LocalService, NT AUTHORITY\NetworkService, NT SERVICE\NAME or DOMAIN\NAME$`,
			"account %s needs a password, which has no place in a file", printable.Quote(s.Account))
	case s.IsCSIProxy() && name != "localsystem":
		p.add("account", "remove account:", "csi-proxy works on disks and mounts, which %s may not", s.Account)
	}
}

func (p *problems) environment(s Service) {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		value := s.Environment[name]
		if name == "" || strings.ContainsAny(name, "= ") || !isPrintable(name) {
			p.add("environment", "write NAME: value", "%s isn't the name of a variable", printable.Quote(name))
		}
		if !isPrintable(value) || value == "" {
			p.add("environment", "write one line of text", "variable %s can't be %s", name, printable.Quote(value))
		}
		if other, twice := seen[strings.ToUpper(name)]; twice {
			p.add("environment", "remove one of them", "variables %s and %s are one to Windows", other, name)
		}
		seen[strings.ToUpper(name)] = name
	}
}

// unique finds what two services can't share.
func (p *problems) unique(services []Service) {
	names, displays, pipes := map[string]string{}, map[string]string{}, map[string]string{}
	proxy := ""
	for i, s := range services {
		p.service = i
		if other, twice := names[strings.ToLower(s.Name)]; twice {
			p.add("name", "rename one of them", "service %s stands here twice, as %s; Windows doesn't tell upper case from lower", s.Name, other)
		}
		names[strings.ToLower(s.Name)] = s.Name
		if other, twice := displays[strings.ToLower(s.DisplayName())]; twice && !strings.EqualFold(other, s.Name) {
			p.add("display", "give it another one", "service %s is shown as %q, and so is %s; Windows refuses the second", s.Name, s.DisplayName(), other)
		}
		displays[strings.ToLower(s.DisplayName())] = s.Name
		if s.IsCSIProxy() {
			p.proxyName(s, proxy)
			proxy = s.Name
		}
		for k, pipe := range s.Pipes {
			if other, twice := pipes[strings.ToLower(pipe)]; twice && other != s.Name {
				p.item("pipes", k, "remove one of them", "pipe %s is service %s's already", pipe, other)
			}
			pipes[strings.ToLower(pipe)] = s.Name
		}
	}
}

func (p *problems) proxyName(s Service, other string) {
	switch {
	case other != "":
		p.add("name", "remove one of them", "services %s and %s both run csi-proxy; the second can't have the pipes and dies", other, s.Name)
	case s.Name != CSIProxyName:
		p.add("name", "write name: "+CSIProxyName, "csi-proxy's service can't be called %s: beside WMCO's %s it fights for the pipes", s.Name, CSIProxyName)
	}
}

// printable reports whether text is what one line of a file, a registry value
// and a command line can hold.
func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}
