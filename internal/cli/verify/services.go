package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests"
	"github.com/winbake/winbake/internal/report"
)

func newServices(t *tool) *cobra.Command {
	var in inputs
	cmd := &cobra.Command{
		Use:  "services FILE",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.stdinOnce("FILE", args...); err != nil {
				return err
			}
			declared, err := t.declaredServices(args[0])
			if err != nil {
				return err
			}
			inv, err := await(cmd.Context(), func() (*inventory.Inventory, error) { return t.read(cmd.Context(), in) })
			if err != nil {
				return err
			}
			found := compareServices(declared, inv)
			return t.finish(report.Report{Subject: declared.Name, Checked: fmt.Sprintf("%d services", len(declared.Services)), Findings: found})
		},
	}
	in.registerObjects(cmd)
	return cmd
}

func (t *tool) declaredServices(path string) (*manifests.ConfigMap, error) {
	text, err := infile.ReadOr(t.Stdin, path, 1<<20)
	if err != nil {
		return nil, &fault.Error{Where: path, What: "it can't be read: " + infile.Cause(err), Fix: "bake manifests windows-services > declared.yaml", Err: err}
	}
	c, err := manifests.ParseConfigMap(path, text)
	if _, told := errors.AsType[*fault.Error](err); err != nil && !told {
		return nil, &fault.Error{Where: path, What: err.Error(), Fix: "bake manifests windows-services > declared.yaml", Err: err}
	}
	return c, err
}

// compareServices holds the cluster's ConfigMap of the declared version to it.
func compareServices(declared *manifests.ConfigMap, inv *inventory.Inventory) []finding.Finding {
	version := strings.TrimPrefix(declared.Name, manifests.NamePrefix)
	var names []string
	for _, l := range inv.Cluster.Services {
		names = append(names, manifests.NamePrefix+l.WMCO)
	}
	i := slices.IndexFunc(inv.Cluster.Services, func(l inventory.ServiceList) bool {
		return l.WMCO == version || strings.HasPrefix(l.WMCO, version+"-")
	})
	none := finding.Finding{ID: "services.configmap", Severity: finding.Unknown, Object: declared.Name, Expected: "one ConfigMap of this version", Why: "what WMCO sets up can't be told"}
	if i < 0 {
		none.Observed, none.Remedy = "others: "+strings.Join(names, ", "), "declare the version that the cluster has: --wmco-version of bake manifests windows-services"
		if len(names) == 0 {
			none.Observed = strings.TrimSuffix("none was read: "+inv.Read[inventory.Services].Reason, ": ")
			none.Remedy = "see which there are, and give them to the check: oc -n " + cmp.Or(declared.Namespace, manifests.Namespace) + " get configmaps"
		}
		return []finding.Finding{none}
	}
	live := inv.Cluster.Services[i]
	found, err := declared.Compare(live.Data)
	if err != nil {
		none.Severity, none.Observed = finding.Block, err.Error()
		found = []finding.Finding{none}
	}
	for i := range found {
		found[i].Evidence = []string{live.At.Where}
	}
	return found
}

// read is the inventory of what was asked for.
func (t *tool) read(ctx context.Context, in inputs) (*inventory.Inventory, error) {
	known, err := in.catalog.Load()
	if err != nil {
		return nil, err
	}
	return t.inventory(ctx, known, in)
}
