package bake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/winsvc"
)

func newSC(t *tool) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "setup-script [service...]",
		Short: "Write a cmd.exe script that sets services up on a node without WMCO",
		Long: `setup-script writes a script for an administrator's cmd.exe on a Windows node that WMCO
doesn't manage: log folder first, then create or reconfigure, failure actions,
start, and wait until it runs. It is safe to run again: a service that is right
and runs is left alone. The programs must be on the node already.

Without names it takes all services of versions.yaml but those that only WMCO
can set up. --undo writes the script that removes them again; programs and logs
stay.`,
		Example: `  bake manifests setup-script > setup.cmd
  bake manifests setup-script csi-proxy > setup.cmd && scp setup.cmd Administrator@node:
  bake manifests setup-script --undo > remove.cmd`,
		ValidArgsFunction: t.fromPins(serviceNames),
		RunE: func(_ *cobra.Command, args []string) error {
			return t.print(t.sc(args, undo))
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the services instead")
	return cmd
}

func (t *tool) sc(names []string, undo bool) ([]byte, error) {
	_, services, err := t.services()
	if err != nil {
		return nil, err
	}
	chosen, err := selectServices(services, names)
	if err != nil {
		return nil, err
	}
	if undo {
		return manifests.UndoSC(chosen)
	}
	return manifests.SC(chosen)
}

// selectServices are the named ones, or all that need no WMCO.
func selectServices(services []winsvc.Service, names []string) ([]winsvc.Service, error) {
	var chosen []winsvc.Service
	var all []string
	for _, s := range services {
		all = append(all, s.Name)
		if slices.Contains(names, s.Name) || len(names) == 0 && s.Standalone() {
			chosen = append(chosen, s)
		}
	}
	for _, n := range names {
		if !slices.Contains(all, n) {
			return nil, &fault.Error{What: fmt.Sprintf("there is no service %q", n), Fix: "one of: " + strings.Join(all, ", ")}
		}
	}
	if len(chosen) == 0 {
		return nil, &fault.Error{What: "only WMCO can set these services up: " + strings.Join(all, ", "), Fix: "declare csi-proxy: services: [{name: csi-proxy, component: csi-proxy}]"}
	}
	return chosen, nil
}

func (t *tool) services() (*pins.File, []winsvc.Service, error) {
	file, err := pins.Load(t.file)
	if err != nil {
		return nil, nil, err
	}
	if len(file.Services) == 0 {
		return nil, nil, &fault.Error{Where: file.Path, What: "no services are declared", Fix: "add services: [{name: csi-proxy, component: csi-proxy}]; docs/services.md has the keys"}
	}
	services, err := wanted.Services(file, t.warn)
	return file, services, err
}

func serviceNames(file *pins.File) (names []string) {
	for _, s := range file.Definitions() {
		if s.Standalone() {
			names = append(names, s.Name)
		}
	}
	return names
}
