package table

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Value is what an attribute has, or a block. Of a list there are several texts.
type Value struct {
	Texts        []string
	There, Known bool
}

// Get is a source's attribute by its name; BLOCK.NAME is one of its blocks' own.
type Get func(name string) Value

// Fault is one thing that is wrong with a source.
type Fault struct {
	Rule, Name string // of package lint, and of the attribute

	Observed, Expected, Why, Remedy string
}

// attribute is one that is wrong in sources of these builders.
type attribute struct {
	Builders []string
	Value    string // what it may not have; "" where there is a check
	Form     string // how what it may not have looks
	Fault    `yaml:",inline"`
}

var attributes = read[attribute]("attributes.yaml")

// checks say what is wrong with an attribute, "" for nothing.
var checks = map[string]func(Get) string{
	"network_adapters": without("network_adapters", "network"), // the name that it had
	"shutdown_command": without("shutdown_command", "disable_shutdown"),
	"ssh_timeout":      waiting,
	"disk_size":        disk,
	"winrm_port":       port,
}

func without(name, other string) func(Get) string {
	return func(get Get) string {
		if get(name).There || get(other).There {
			return ""
		}
		return "no " + name
	}
}

// waiting: Packer's own patience is five minutes.
func waiting(get Get) string {
	c := get("communicator")
	if get("disk_image").There || c.There && !slices.Equal(c.Texts, []string{"ssh"}) {
		return ""
	}
	for _, name := range []string{"ssh_timeout", "ssh_wait_timeout"} {
		if v := get(name); v.There {
			if d, err := time.ParseDuration(strings.Join(v.Texts, "")); v.Known && err == nil && d < 10*time.Minute {
				return name + " is " + v.Texts[0]
			}
			return ""
		}
	}
	return "no ssh_timeout, which makes it 5m"
}

// inISO is how Microsoft names images in its ISOs, and editions how such a name goes on.
var (
	inISO    = regexp.MustCompile(`^Windows Server 20\d\d (SERVER[A-Z]+)$`)
	editions = regexp.MustCompile(`^SERVER((STANDARD|DATACENTER)A?(CORE)?|(STORAGE|AZURE|TURBINE|WEB|ESSENTIALS|SOLUTION|HYPER)\w*)$`)
)

// IsMisspelt reports whether an image's name is of Microsoft's form, and none of its names.
func IsMisspelt(image string) bool {
	m := inISO.FindStringSubmatch(image)
	return m != nil && !editions.MatchString(m[1])
}

// port: WinRM listens to HTTP on 5985, and to HTTPS on 5986.
func port(get Get) string {
	p, ssl := get("winrm_port"), get("winrm_use_ssl")
	other := map[bool]string{true: "5985", false: "5986"}[slices.Contains(ssl.Texts, "true")]
	if !slices.Equal(get("communicator").Texts, []string{"winrm"}) || ssl.There && !ssl.Known || !p.Known || !slices.Equal(p.Texts, []string{other}) {
		return ""
	}
	return "winrm_port = " + other
}

// leastDisk is Windows Server's, in MB
// (https://learn.microsoft.com/windows-server/get-started/hardware-requirements).
const leastDisk = 32 * 1024

func disk(get Get) string {
	for _, name := range []string{"disk_size", "storage.disk_size"} {
		v := get(name)
		if !v.Known || len(v.Texts) == 0 {
			continue
		}
		text, factor := strings.ToUpper(strings.TrimSuffix(v.Texts[0], "B")), 1
		if number, inGB := strings.CutSuffix(text, "G"); inGB {
			text, factor = number, 1024
		}
		if n, err := strconv.Atoi(strings.TrimSuffix(text, "M")); err == nil && n > 0 && n*factor < leastDisk {
			return fmt.Sprintf("a disk of %d MB", n*factor)
		}
	}
	return ""
}

// Faults are those of a builder's source.
func Faults(builder string, get Get) []Fault {
	var out []Fault
	for _, a := range attributes() {
		if !slices.Contains(a.Builders, builder) {
			continue
		}
		switch {
		case a.Form != "":
			form := regexp.MustCompile(a.Form)
			if i := slices.IndexFunc(get(a.Name).Texts, form.MatchString); i >= 0 {
				a.Observed = a.Name + " = " + get(a.Name).Texts[i]
			}
		case a.Value == "":
			a.Observed = checks[a.Name](get)
		case slices.Contains(get(a.Name).Texts, a.Value):
			a.Observed = a.Name + " = " + a.Value
		}
		if a.Observed != "" {
			out = append(out, a.Fault)
		}
	}
	return out
}
