package lint

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
)

// readable are provisioners whose content is in the template's own files.
var readable = []string{"powershell", "windows-shell", "windows-restart", "windows-update", "file", "breakpoint", "winbake-node", "shell-local"}

// opaque names a step whose content can't be read here; "" for none.
func (c *checker) opaque() string {
	if len(c.answerFiles()) == 0 && c.builder(fromMedium...) {
		return "the answer file"
	}
	for _, p := range c.provisioners() {
		if !slices.Contains(readable, p.Labels[0]) {
			return "provisioner " + p.Labels[0]
		}
		for _, name := range []string{"script", "scripts"} {
			a := p.Body.Attributes[name]
			if a == nil {
				continue
			}
			v := c.value(a.Expr)
			if !v.IsWhollyKnown() {
				return "a script that is given at build time"
			}
			for _, path := range texts(v) {
				if _, err := readAt(c.dir, path); err != nil {
					return "the script " + strings.TrimPrefix(path, c.dir+string(filepath.Separator))
				}
			}
		}
	}
	return ""
}

func sysprep(c *checker) {
	const id = "template.sysprep"
	text := c.script()
	tells := c.opaque()
	if !strings.Contains(text, "sysprep") {
		if tells != "" {
			c.untold(id, "sysprep", "nothing runs it, unless "+tells+" does, which can't be read")
		} else {
			c.add(id, "sysprep", finding.Finding{Observed: "nothing runs it", Expected: "sysprep /generalize /oobe"})
		}
		return
	}
	before := len(c.findings)
	for _, s := range c.sources {
		command, _ := c.text(s.Body, "shutdown_command")
		if strings.Contains(strings.ToLower(command), "sysprep") {
			c.add(id, s.name(), finding.Finding{Severity: finding.Warn, Observed: "sysprep is the shutdown_command", Expected: "a step of its own, and a plain shutdown after it",
				Why: "its exit code is never seen, and on some versions the dropped connection fails the build", Evidence: s.at("shutdown_command")})
		}
	}
	if len(c.findings) == before {
		c.pass(id, "sysprep", "is run")
	}
}

// step is one row of the checklist for a node's image.
type step struct {
	name     string
	severity finding.Severity // if it is missing
	sign     *regexp.Regexp   // in what the template does, in lower case
	why      string
	// where it applies; empty for everywhere.
	builders []string
	// openshift: of this profile alone.
	openshift bool
}

// own are platforms on which nobody but the image brings SSH, keys and ports:
// elsewhere the operator's user data does at first boot.
var own = []string{"vsphere-iso", "vsphere-clone", "qemu", "hyperv-iso", "proxmox-iso", "vmware-iso"}

var onVSphere = []string{"vsphere-iso", "vsphere-clone"}

// steps are from the operator's documentation of golden images
// (docs/vsphere-golden-image.md and docs/byoh-instance-pre-requisites.md of
// https://github.com/openshift/windows-machine-config-operator).
var steps = []step{
	{"openssh", finding.Block, regexp.MustCompile(`openssh\.server|install-sshd|openssh`), "nobody can reach the node: the operator comes over SSH", own, false},
	{"ssh-agent", finding.Warn, regexp.MustCompile(`ssh-agent`), "the operator's documentation wants sshd and ssh-agent started by themselves", own, true},
	{"authorized-keys", finding.Block, regexp.MustCompile(`administrators_authorized_keys`), "keys in the administrator's home don't outlive sysprep, and the operator can't log on", own, true},
	{"authorized-keys-acl", finding.Block, regexp.MustCompile(`icacls|setaccessruleprotection|set-acl`), "sshd passes over a key file that others may write", own, true},
	{"port-10250", finding.Block, regexp.MustCompile(`10250`), "nobody can read logs of the node's pods", own, false},
	{"port-9182", finding.Warn, regexp.MustCompile(`9182`), "the node's metrics are missing", own, true},
	{"vmware-tools", finding.Block, regexp.MustCompile(`vmware[ -]?tools|vm-?tools|setup64\.exe`), "vCenter doesn't know the node's address", onVSphere, false},
	{"exclude-nics", finding.Block, regexp.MustCompile(`exclude-nics\s*=`), "the address of the node's virtual card is hidden from vCenter, and the node doesn't join", onVSphere, true},
	{"containers-feature", finding.Warn, regexp.MustCompile(`(install-windowsfeature|add-windowsfeature|enable-windowsoptionalfeature)[^\n]*containers`), "each node restarts once more when it joins", nil, false},
	{"updates", finding.Warn, regexp.MustCompile(`microsoft\.update\.session|windowsupdate|windows-update`), "nodes start with the holes of the ISO's day", nil, false},
	{"os-build", finding.Warn, regexp.MustCompile(`kb5012637|\bubr\b|-(lt|le|ge|gt)\s*\S*(20348|26100)`), "before build 20348.681 the cluster's network doesn't work, and nothing says so", nil, true},
	{"host-name", finding.Warn, regexp.MustCompile(`rename-computer|host-name`), "Windows gives clones names in capitals, which the cluster has in lower case", own, true},
	{"password-logon", finding.Warn, regexp.MustCompile(`passwordauthentication no`), "the administrator's password can be guessed over the network", own, true},
}

// runtime is a container runtime being installed, dockers with an s too.
var runtime = regexp.MustCompile(`docker(ms|msft)?provider|install-package[^\n]*docker|install-windowsfeature[^\n]*docker|containerd(\.exe)?["' ][^\n]*--register-service|install-docker|install-containerd`)

// hidden is an exclude-nics that isn't empty, shown one that is. A script that
// replaces the one with the other has both.
var (
	hidden = regexp.MustCompile(`exclude-nics\s*=\s*[a-z*]`)
	shown  = regexp.MustCompile(`exclude-nics\s*=[ \t]*(['"\r\n]|$)`)
)

func checklist(c *checker) {
	const id = "template.checklist"
	text, tells := c.script(), c.opaque()
	for _, s := range steps {
		if s.openshift && c.profile != "openshift" || len(s.builders) > 0 && !c.builder(s.builders...) {
			continue
		}
		switch {
		case s.sign.MatchString(text):
			c.pass(id, s.name, "there")
		case tells != "":
			c.untold(id, s.name, "not there, unless "+tells+" does it, which can't be read")
		default:
			c.add(id, s.name, finding.Finding{Severity: s.severity, Observed: "not there", Expected: "a step for it", Why: s.why})
		}
	}
	if c.profile != "openshift" {
		return
	}
	if c.builder(onVSphere...) && hidden.MatchString(text) && !shown.MatchString(text) {
		c.add(id, "exclude-nics", finding.Finding{Observed: "set to something", Expected: "empty", Why: "the address of the node's virtual card is hidden from vCenter, and the node doesn't join"})
	}
	if m := runtime.FindString(text); m != "" {
		c.add(id, "container-runtime", finding.Finding{Observed: "installed: " + strings.TrimSpace(m), Expected: "none", Why: "the operator installs containerd itself and fails on a node that has a runtime"})
	}
}
