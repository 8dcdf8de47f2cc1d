package verifyexe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/deploy"
)

func newInstall(a *app.App) *cobra.Command {
	var only []string
	var beside bool
	cmd := changeCommand(a, &cobra.Command{
		Use:   "install [PAYLOAD]",
		Short: "Install the files and services of a payload on this node",
		Long: `install puts the payload's files into their place, makes or changes its services,
starts them, and waits until their pipes answer: as a whole or not at all. If
something fails, files and services are put back. Cut short at any point and run
again, it ends right.

PAYLOAD is on this machine: a folder D that bake payload --dir D wrote, with
D.winbake beside it, an OCI layout, or a tarball of an image. --beside takes the one
in the folder payload beside verify.exe, as images of bake manifests node have it.`,
		Example: "  verify.exe node install D:\\payload\n  verify.exe node install D:\\image --only csi-proxy",
		Args:    cobra.MaximumNArgs(1),
	}, func(ctx context.Context, args []string, r *agent.Request) (func() error, error) {
		name, err := named(args, beside)
		if err == nil && name == "" {
			err = &fault.Error{What: "no payload is named", Fix: `verify.exe node install D:\payload`}
		}
		if err != nil {
			return nil, err
		}
		im, err := openPayload(ctx, name)
		if err != nil {
			return nil, err
		}
		r.Reference, r.Expectation, r.Files = im.Reference, im.Expectation, im
		return im.Close, im.Only(only)
	})
	besideFlag(cmd, &beside)
	cmd.Flags().StringSliceVar(&only, "only", nil, "only these components and the services that run them")
	return cmd
}

func newRemove(a *app.App) *cobra.Command {
	var wait bool
	cmd := changeCommand(a, &cobra.Command{
		Use:   "remove",
		Short: "Remove what install put on this node",
		Long: `remove stops and deletes the services that install made, and deletes its files,
logs and folders. What isn't as it was installed stays, and is named.`,
		Example: "  verify.exe node remove",
	}, func(context.Context, []string, *agent.Request) (func() error, error) {
		return func() error { return nil }, nil
	})
	cmd.Flags().BoolVar(&wait, "wait", false, "stay until stopped: for a DaemonSet's pods")
	remove := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := remove(cmd, args)
		if err == nil && wait {
			<-cmd.Context().Done()
		}
		return err
	}
	return cmd
}

func besideFlag(cmd *cobra.Command, beside *bool) {
	cmd.Flags().BoolVar(beside, "beside", false, "take the payload in the folder payload beside verify.exe")
}

// named is the payload that is named or beside; "" for none.
func named(args []string, beside bool) (string, error) {
	switch {
	case beside && len(args) > 0:
		return "", &fault.Error{What: "--beside and a payload: " + args[0], Fix: "leave out one of them"}
	case beside:
		self, err := os.Executable()
		return filepath.Join(filepath.Dir(self), "payload"), err
	}
	return strings.Join(args, ""), nil
}

// openPayload opens a payload of this machine.
func openPayload(ctx context.Context, name string) (*deploy.Image, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, &fault.Error{Where: name, What: "no payload can be read there: " + err.Error(), Fix: "bring a folder of bake payload --dir, or an image layout, to this machine and name it", Err: err}
	}
	source, err := oci.Load(ctx, name, oci.Options{})
	if err != nil {
		return nil, err
	}
	im, err := deploy.ReadImage(ctx, source, nil)
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return im, nil
}

// changeCommand has cmd carry out a request, which fill fills in; what it returns
// is called at the end.
func changeCommand(a *app.App, cmd *cobra.Command, fill func(ctx context.Context, args []string, r *agent.Request) (func() error, error)) *cobra.Command {
	r := &agent.Request{Say: func(s string) { a.Tell("node", event.Write, event.Note, s) }}
	change := func(ctx context.Context, args []string) (*agent.Result, error) {
		if r.Stop <= 0 || r.Start <= 0 {
			return nil, &fault.Error{What: "--stop-timeout and --start-timeout can't be zero or less", Fix: "--stop-timeout 1s ends a process that doesn't end by itself within that second"}
		}
		sys, dir, err := agent.Local()
		if err != nil {
			return nil, err
		}
		end, err := fill(ctx, args, r)
		if end != nil {
			defer end() //nolint:errcheck // only read
		}
		if err != nil {
			return nil, err
		}
		result, err := agent.Apply(ctx, sys, dir, r)
		if err != nil {
			return nil, err
		}
		for _, note := range result.Notes {
			a.Tell("node", event.Write, event.Warning, note)
		}
		return result, nil
	}
	app.Answer(a, "NodeChange", cmd, change, rows)
	f := cmd.Flags()
	f.DurationVar(&r.Stop, "stop-timeout", agent.DefaultStop, "how long a service's process may take to end")
	f.DurationVar(&r.Start, "start-timeout", agent.DefaultStart, "how long a service's pipes may take to answer")
	return cmd
}

// rows is one line for people. What a node says may hold anything.
func rows(r *agent.Result) [][]string {
	var parts []string
	if r.Recovered != "" {
		parts = append(parts, "an earlier change had been cut short; "+printable.Line(r.Recovered))
	}
	for _, p := range []struct {
		n    int
		what string
	}{{r.Installed, "installed"}, {r.Replaced, "replaced"}, {r.Removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("files %s: %d", p.what, p.n))
		}
	}
	for _, s := range r.Services {
		parts = append(parts, printable.Line(s))
	}
	switch {
	case !r.Changed:
		parts = append(parts, "nothing to do")
	case len(parts) == 0:
		parts = append(parts, "recorded")
	}
	return [][]string{{strings.Join(parts, ", ")}}
}
