package lint

import (
	"regexp"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// engine are commands that install a container runtime, by their names and
// arguments.
var engine = regexp.MustCompile(`^(new-service|sc create|nssm install)\b.*\b(docker|dockerd|containerd|com\.docker\.service)\b` +
	`|^(dockerd|containerd)\b.*--register-service` +
	`|^msiexec\b.*(/i|/package)\s.*\b(docker|containerd|mirantis)[\w.-]*\.msi` +
	`|^(new-item|new-itemproperty|reg add)\b.*\\services\\(docker|containerd)\b` +
	`|^invoke-(cim|wmi)method\b.*win32_service.*\b(docker|containerd)\b` +
	`|^(choco|winget|scoop|cinst)\b.*\b(install|upgrade|cinst|add)\b.*\b(docker|containerd|moby|mirantis|rancher-desktop|podman)` +
	`|^cinst\b.*\b(docker|containerd)` +
	`|^(install-package|install-module|install-packageprovider|install-windowsfeature|find-package)\b.*\b(docker|containerd|dockerms)` +
	`|^install-(docker|containerd|moby|mirantis|containerruntime)` +
	`|^(start-process|msiexec)?\b.*\b(docker[-_ ]?desktop|docker|containerd|mirantis)[\w.-]*(installer|setup|windows)?[\w.-]*\.(msi|exe)\b.*(/i|/quiet|install)`)

// services: no container runtime, and csi-proxy under the name that the operator
// takes over.
func services(c *buildChecker) {
	if c.Profile != "openshift" {
		return
	}
	const id = "template.checklist"
	for _, d := range c.commands() {
		text := d.Text()
		if engine.MatchString(text) && !strings.HasPrefix(text, "docker ") {
			c.add(id, "container-runtime", finding.Finding{Observed: "installed: " + short(text), Expected: "none", Why: "the operator installs containerd itself and fails on a node that has a runtime",
				Remedy: "remove it from the image", Evidence: d.at()})
			break
		}
	}
	for _, d := range c.commands("new-service", "sc", "nssm") {
		text, words := d.Text(), d.Words()
		if d.Name == "sc" && !strings.Contains(text, " create ") || d.Name == "nssm" && !strings.Contains(text, " install ") {
			continue
		}
		name := strings.Join(d.Param("name", 0).Texts, "")
		if d.Name != "new-service" && len(words) > 1 {
			name = words[1]
			if strings.HasPrefix(words[0], `\\`) && len(words) > 2 {
				name = words[2]
			}
		}
		if (strings.Contains(text, "csi-proxy.exe") || strings.EqualFold(name, "csiproxy")) && !strings.EqualFold(name, "csi-proxy") && !strings.HasPrefix(name, "$") {
			c.add(id, "csi-proxy", finding.Finding{Observed: "a service " + quoted(name), Expected: `"csi-proxy"`, Why: "the operator makes a service csi-proxy, and two of them fight for the pipes",
				Remedy: `sc.exe create csi-proxy binPath= "C:\k\csi-proxy.exe ..."`, Evidence: d.at()})
		}
	}
}

// short is the beginning of a command.
func short(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		return string(runes[:100]) + "..."
	}
	return text
}
