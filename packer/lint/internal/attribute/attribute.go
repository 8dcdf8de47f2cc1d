// Package attribute lists what sources of Packer's builders have, or leave out, that
// makes no image of Windows, or none that should be used. It reads no template.
package attribute

import (
	"fmt"
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

// row is a fault of these builders.
type row struct {
	builders []string
	observed func(Get) string // "" for none
	fault    Fault
}

// is tells an attribute that has one of these values.
func is(name string, values ...string) func(Get) string {
	return func(get Get) string {
		if i := slices.IndexFunc(get(name).Texts, func(t string) bool { return slices.Contains(values, t) }); i >= 0 {
			return name + " = " + get(name).Texts[i]
		}
		return ""
	}
}

// byPower are builders that take a machine's power where nothing shuts it down, and
// that wait for SSH while Windows is installed.
var byPower = []string{"qemu", "hyperv-iso", "virtualbox-iso", "vmware-iso"}

const justTried, everybody = "the build ends well, and there is no image", "everybody may start machines of it, and read its disk"

var rows = []row{
	{[]string{"amazon-ebs", "amazon-ebssurrogate", "amazon-chroot"}, is("skip_create_ami", "true"),
		Fault{Rule: "template.checklist", Name: "skip_create_ami", Expected: "an image", Why: justTried, Remedy: "skip_create_ami = false"}},
	{[]string{"azure-arm", "googlecompute"}, is("skip_create_image", "true"),
		Fault{Rule: "template.checklist", Name: "skip_create_image", Expected: "an image", Why: justTried, Remedy: "skip_create_image = false"}},
	{[]string{"amazon-ebs", "amazon-ebssurrogate", "amazon-chroot"}, is("ami_groups", "all"),
		Fault{Rule: "template.left", Name: "ami_groups", Expected: "accounts in ami_users", Why: everybody, Remedy: "ami_users"}},
	{[]string{"amazon-ebs", "amazon-ebssurrogate", "amazon-chroot"}, is("snapshot_groups", "all"),
		Fault{Rule: "template.left", Name: "snapshot_groups", Expected: "accounts in snapshot_users", Why: everybody, Remedy: "snapshot_users"}},
	{[]string{"vsphere-iso"}, func(get Get) string {
		if get("network_adapters").There || get("network").There { // the name that it had
			return ""
		}
		return "no network_adapters"
	}, Fault{Rule: "template.reach", Name: "network_adapters", Expected: "a card", Why: "the machine has no network, and Packer waits for its address until it gives up",
		Remedy: `network_adapters { network = "..." network_card = "vmxnet3" }`}},
	{byPower, func(get Get) string {
		if get("shutdown_command").There || get("disable_shutdown").There {
			return ""
		}
		return "no shutdown_command"
	}, Fault{Rule: "template.reach", Name: "shutdown_command", Expected: "a shutdown", Why: "Packer takes the machine's power while Windows still writes",
		Remedy: `shutdown_command = "shutdown.exe /s /t 10 /f"`}},
	{byPower, waiting, Fault{Rule: "template.reach", Name: "ssh_timeout", Expected: "an hour or more", Why: "Windows Setup takes longer, and the build ends there", Remedy: `ssh_timeout = "2h"`}},
	{slices.Concat(byPower, []string{"vsphere-iso"}), disk, Fault{Rule: "template.answer", Name: "disk_size", Expected: "32 GB or more", Why: "Windows Server with its updates doesn't fit, or fills the disk", Remedy: "a larger disk: it is thin"}},
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

// Of are the faults of a builder's source.
func Of(builder string, get Get) []Fault {
	var out []Fault
	for _, r := range rows {
		if slices.Contains(r.builders, builder) {
			if f := r.fault; r.observed(get) != "" {
				f.Observed = r.observed(get)
				out = append(out, f)
			}
		}
	}
	return out
}
