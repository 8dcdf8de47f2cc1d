package install

import (
	"regexp"

	"github.com/winbake/winbake/internal/winscript"
)

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
