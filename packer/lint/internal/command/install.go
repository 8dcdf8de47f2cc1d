package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// manager is a package manager, or several that are called alike.
type manager struct {
	call    *regexp.Regexp // how it installs; the packages are behind that
	version *regexp.Regexp // an option with a version of all that is installed, or with a list that has them
	own     bool           // a package's name may have its version
}

// none is an option that no manager has.
const none = `\s--none\b`

func called(call, version string) manager {
	own := version == none || strings.Contains(call, "pip") || strings.HasPrefix(call, "cargo") || strings.HasPrefix(call, "gem")
	return manager{regexp.MustCompile(`^(?:` + call + `)(?:\s+|$)`), regexp.MustCompile(version), own}
}

var managers = []manager{
	called(`(?:install|save|update)-(?:module|script|psresource)|install-package(?:provider)?`, `\s-(?:requiredv\w*|version)\b`),
	called(`choco(?:latey)?\s+(?:install|upgrade)|cinst|cup`, `\s-{1,2}version\b|\.config\b`),
	called(`winget\s+(?:install|add|upgrade|update)`, `\s(?:--version|-v)\b`),
	called(`scoop\s+(?:install|update)`, none),
	called(`(?:pip[\d.]*|(?:python[\d.]*|py)\s.*-m pip)\s(?:.*\s)?(?:install|download)`, `\s(?:-r|--requirement|--no-index|--require-hashes)\b`),
	called(`(?:npm|pnpm)\s+(?:install|i|add|update)|yarn\s+(?:global\s+)?add`, none),
	called(`dotnet\s+tool\s+(?:install|update)`, `\s--version\b`),
	called(`nuget\s+(?:install|update)`, `\s-version\b|\.config\b`),
	called(`gem\s+(?:install|update)`, `\s(?:-v|--version)\b`),
	called(`cargo\s+install`, `\s(?:--version|--vers|--rev)\b`),
	called(`go\s+install`, none),
	called(`(?:docker|nerdctl|crictl)\s+pull|ctr\s(?:.*\s)?images?\s+pull`, none),
}

var (
	// held is a version, a tag or a commit behind a package's own name.
	held = regexp.MustCompile(`(?:[^<>!~]=|[@:])v?\d|@(?:sha256:|[0-9a-f]{40})|:[a-z]+-?\d`)
	// beside are options whose value is no package.
	beside = regexp.MustCompile(`^-{1,2}(?:>{1,2}|i|index-url|extra-index-url|f|find-links|c|constraint|proxy|trusted-host|t|target|cert|timeout|root|prefix|registry|s|source|sources|` +
		`o|outputdirectory|output-directory|params|package-parameters|ia|installargs|install-arguments|k|namespace|n|platform|tool-path|add-source|configfile|scope|path|` +
		`repository|providername|destination|credential|proxycredential|minimumversion|maximumversion|erroraction|ea|log|location|e|bucket|feature|features|b)$`)
	// lies is a package that lies there, in a file or folder.
	lies = regexp.MustCompile(`^(?:[a-z]:|\.{1,2}(?:[\\/]|$)|\\\\)|\.(?:whl|tgz|tar\.gz|nupkg|gem|zip)$`)
	// from is a folder that packages come out of.
	from = regexp.MustCompile(`\s-{1,2}(?:s|source|sources|repository|path)\s+"?(?:[a-z]:\\|\\\\|\.)`)
)

// Newest says what a command installs without a version, "" for nothing.
func Newest(c winscript.Command) string {
	text := c.Text()
	for _, m := range managers {
		call := m.call.FindString(text)
		if call == "" {
			continue
		}
		if m.version.MatchString(text) || from.MatchString(text) && !strings.HasPrefix(call, "save-") {
			return ""
		}
		words := strings.Fields(text[len(call):])
		var open []string
		for i, w := range words {
			name := strings.Trim(w, `"',`)
			switch {
			case strings.HasPrefix(w, "-"), i > 0 && beside.MatchString(words[i-1]), name == "", lies.MatchString(name), held.MatchString(name[strings.LastIndexByte(name, '/')+1:]):
			case name[0] == '@' && !strings.Contains(name, "/"), m.own && strings.ContainsAny(name, "$%{}()|"): // what isn't known, and may have a version
			default:
				open = append(open, name)
			}
		}
		if len(open) == 0 && !all(call, words) {
			return ""
		}
		return strings.Join(slices.Concat(strings.Fields(call), open[:min(3, len(open))]), " ")
	}
	return ""
}

// all reports whether a call without a package's name brings all up to date.
func all(call string, words []string) bool {
	return len(words) == 0 && (strings.HasPrefix(call, "up") || strings.Contains(call, "update") || strings.Contains(call, "upgrade"))
}

// What installs VMware Tools, as scripts call it, and what takes them away.
var (
	tools   = regexp.MustCompile(`\bsetup64\b|\bvmware[-_ ]?tools[-_.\w]*\.(exe|msi)|\bvmware tools(64)?\.msi|(choco|winget|scoop|install-package)\b.*\bvmware[-_. ]?(vmware)?tools|\bsetup(\.exe)?\b.*(/v|-v)\s*"?/q|install-vm-?tools|install-vmware-?tools`)
	removes = regexp.MustCompile(`uninstall|\s/x\b|remove=all`)
)

// VMwareTools reports whether a command installs VMware Tools, or takes them away.
func VMwareTools(c winscript.Command) (installs, takesAway bool) {
	text := c.Text() + " " + strings.ToLower(strings.Join(c.Input.Texts, " "))
	is := tools.MatchString(text) && !strings.HasPrefix(c.Name, "write-") && c.Name != "echo"
	return is && !removes.MatchString(text), is && removes.MatchString(text)
}

// IsRuntime reports whether a command installs a container runtime, or uses one that
// is there.
func IsRuntime(c winscript.Command) bool { return engine.MatchString(c.Text()) }

// engine are commands that install a container runtime, by their names and
// arguments.
var engine = regexp.MustCompile(`^(new-service|sc create|nssm install)\b.*\b(docker|dockerd|containerd|com\.docker\.service)\b` +
	`|^(dockerd|containerd)\b.*--register-service` +
	`|^(docker|nerdctl|ctr|crictl) .*\b(pull|run|load|build)\b` +
	`|^msiexec\b.*(/i|/package)\s.*\b(docker|containerd|mirantis)[\w.-]*\.msi` +
	`|^(new-item|new-itemproperty|reg add)\b.*\\services\\(docker|containerd)\b` +
	`|^invoke-(cim|wmi)method\b.*win32_service.*\b(docker|containerd)\b` +
	`|^(choco|winget|scoop|cinst)\b.*\b(install|upgrade|cinst|add)\b.*\b(docker|containerd|moby|mirantis|rancher-desktop|podman)` +
	`|^cinst\b.*\b(docker|containerd)` +
	`|^(install-package|install-module|install-packageprovider|install-windowsfeature|find-package)\b.*\b(docker|containerd|dockerms)` +
	`|^install-(docker|containerd|moby|mirantis|containerruntime)` +
	`|^(start-process|msiexec)?\b.*\b(docker[-_ ]?desktop|docker|containerd|mirantis)[\w.-]*(installer|setup|windows)?[\w.-]*\.(msi|exe)\b.*(/i|/quiet|install)`)
