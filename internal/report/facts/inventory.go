package facts

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

// Inventory writes what was read, and nothing else.
func Inventory(w io.Writer, inv *inventory.Inventory) error {
	for _, s := range inv.Sources {
		fmt.Fprintf(w, "Read %s %s: %s\n", s.Kind, clean(s.Name), clean(cmp.Or(s.Detail, "no count")))
	}
	cluster(w, &inv.Cluster)
	for i := range inv.Drivers {
		driver(w, &inv.Drivers[i])
	}
	if len(inv.Drivers) == 0 {
		fmt.Fprintln(w, "\nNo DaemonSet with a CSI driver was found.")
	}
	if err := nodes(w, inv); err != nil {
		return err
	}
	if err := volumes(w, inv.Volumes); err != nil {
		return err
	}
	for i, s := range inv.SetAside {
		if i == 0 {
			fmt.Fprintln(w, "\nSet aside:")
		}
		fmt.Fprintf(w, "  %s: %s (%s)\n", clean(s.Object.String()), clean(s.Reason), clean(s.At.Where))
	}
	coverage(w, inv)
	for i, p := range inv.Problems {
		if i == 0 {
			fmt.Fprintln(w, "\nNot read:")
		}
		fmt.Fprintf(w, "  %s: %s\n", clean(p.Where), clean(p.What))
		if p.Fix != "" {
			fmt.Fprintf(w, "    fix: %s\n", clean(p.Fix))
		}
		if p.Command != "" {
			fmt.Fprintf(w, "      %s\n", clean(p.Command))
		}
	}
	return nil
}

func cluster(w io.Writer, c *inventory.Cluster) {
	for _, f := range [][2]string{
		{"OpenShift", c.OpenShift}, {"updating to", c.Updating}, {"Kubernetes", c.Kubernetes},
		{"platform", c.Platform}, {"WMCO", c.WMCO},
	} {
		if f[1] != "" {
			fmt.Fprintf(w, "Cluster: %s %s\n", f[0], clean(f[1]))
		}
	}
}

func driver(w io.Writer, d *inventory.Driver) {
	fmt.Fprintf(w, "\n%s\n", clean(d.Object.String()))
	version := d.Version.Version.String()
	if !d.Version.Known {
		version = "unknown: " + d.Version.Reason
	} else if d.Version.By != "" {
		version += " (by " + d.Version.By + ")"
	}
	var pipes []string
	for _, p := range d.Pipes {
		pipes = append(pipes, p.Name())
	}
	for _, f := range [][2]string{
		{"os", cmp.Or(d.OS, "unknown")},
		{"driver", cmp.Or(d.Provisioner, "unknown") + " " + d.Line},
		{"version", version},
		{"mode", d.Mode()},
		{"pipes", strings.Join(pipes, ", ")},
		{"image", d.Image.Reference},
	} {
		if f[1] != "" {
			fmt.Fprintf(w, "  %-9s %s\n", f[0], strings.TrimSpace(clean(f[1])))
		}
	}
	for _, e := range d.Evidence {
		fmt.Fprintf(w, "  %-9s %s\n", "seen", clean(strings.TrimSpace(e.Where+" "+e.Text)))
	}
}

func nodes(w io.Writer, inv *inventory.Inventory) error {
	if len(inv.Nodes) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nWindows nodes: %d, Linux nodes: %d\n", len(inv.Nodes), inv.LinuxNodes)
	registered := map[string]string{}
	for _, n := range inv.CSINodes {
		registered[n.Name] = cmp.Or(strings.Join(n.Drivers, ", "), "none")
	}
	rows := [][]string{{"NODE", "BUILD", "KUBELET", "WMCO", "CSI-PROXY", "REGISTERED"}}
	for _, n := range inv.Nodes {
		proxy := "not read"
		if n.CSIProxy != nil {
			proxy = cmp.Or(n.CSIProxy.Version.String(), n.CSIProxy.Reason)
		}
		rows = append(rows, []string{n.Name, fmt.Sprint(n.Build), n.Kubelet, cmp.Or(n.WMCO, "-"), proxy, cmp.Or(registered[n.Name], "not read")})
	}
	return table(w, rows)
}

func volumes(w io.Writer, uses []inventory.VolumeUse) error {
	if len(uses) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nVolumes that Windows pods use:")
	rows := [][]string{{"POD", "VOLUME", "CLAIM", "DRIVER", "IN-TREE"}}
	for _, u := range uses {
		rows = append(rows, []string{u.Pod.Namespace + "/" + u.Pod.Name, u.Volume, cmp.Or(u.Claim, "-"), cmp.Or(u.Provisioner, cmp.Or(u.Reason, "unknown")), cmp.Or(u.InTree, "-")})
	}
	return table(w, rows)
}

func coverage(w io.Writer, inv *inventory.Inventory) {
	first := true
	for _, r := range slices.Sorted(maps.Keys(inv.Read)) {
		c := inv.Read[r]
		if c.Complete {
			continue
		}
		if first {
			fmt.Fprintln(w, "\nNot known to be complete:")
			first = false
		}
		fmt.Fprintf(w, "  %s: %d seen; %s\n", r, c.Count, clean(cmp.Or(c.Reason, "not read")))
		for line := range strings.Lines(c.Fix) {
			fmt.Fprintf(w, "    fix: %s\n", clean(strings.TrimRight(line, "\n")))
		}
	}
}
