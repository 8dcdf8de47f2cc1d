package bake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
)

// check refuses what flags and environment alone show to be wrong: a mistake is
// told before anything is compiled.
func (o *payloadOptions) check(t *tool) error {
	if o.withVerify {
		if _, err := verifySource(); err != nil {
			return err
		}
	}
	if _, err := o.parsePlatform(); err != nil {
		return err
	}
	if _, err := createdAt(nil); err != nil {
		return err
	}
	for flag, texts := range map[string]map[string]string{"label": o.labels, "annotation": o.annotations} {
		for key := range texts {
			if strings.TrimSpace(key) == "" {
				return &fault.Error{What: fmt.Sprintf("--%s has no key", flag), Fix: "--" + flag + " key=value"}
			}
		}
	}
	if o.push != "" {
		if err := oci.CheckPush(o.push); err != nil {
			return err
		}
	}
	return o.outputOptions.check(t)
}

type place struct {
	flag, path string
	kind       oci.Kind
}

func (p place) stdout() bool { return p.kind == oci.KindOCIArchive && p.path == toStdout }

func (p place) check() error {
	if p.kind == oci.KindDir {
		return payload.CheckDir(p.path)
	}
	return oci.CheckPlace(p.kind, p.path)
}

func (o *outputOptions) places() []place {
	return []place{{"dir", o.dir, oci.KindDir}, {"tarball", o.tarball, oci.KindOCIArchive}, {"layout", o.layout, oci.KindLayout}}
}

func (o *outputOptions) check(t *tool) error {
	if o.tarball == toStdout && app.IsTerminal(t.Stdout) {
		return &fault.Error{What: "a tarball isn't for a terminal", Fix: "--tarball FILE, or send stdout elsewhere: > payload.tar"}
	}
	taken := map[string]string{}
	for _, p := range o.places() {
		if p.path == "" || p.stdout() {
			continue
		}
		if err := checkPlace(p); err != nil {
			return err
		}
		abs, err := filepath.Abs(p.path)
		if err != nil {
			return fmt.Errorf("find %s: %w", p.path, err)
		}
		for flag, other := range taken {
			if abs == other || strings.HasPrefix(abs, other+"/") || strings.HasPrefix(other, abs+"/") {
				return &fault.Error{Where: p.path, What: fmt.Sprintf("--%s and --%s would write over each other", flag, p.flag), Fix: "give each a place of its own"}
			}
		}
		taken[p.flag] = abs
	}
	return nil
}

// checkPlace says what to give where a folder holds something else.
func checkPlace(p place) error {
	err := p.check()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !errors.Is(err, payload.ErrForeign) {
		return err
	}
	told := *f
	told.Fix = fmt.Sprintf("--%s with a new folder, such as %s", p.flag, shell.Path(filepath.Join(p.path, "payload")))
	return &told
}

func newDiff(t *tool) *cobra.Command {
	diff := func(_ context.Context, args []string) ([]pins.Change, error) {
		var files [2]*pins.File
		var locks [2]*pins.Lock
		for i, name := range args {
			var err error
			if files[i], err = pins.Load(name); err != nil {
				return nil, err
			}
			if locks[i], err = pins.LoadLock(files[i]); err != nil {
				return nil, err
			}
		}
		return pins.Diff(files[0], files[1], locks[0], locks[1]), nil
	}
	return app.Answer(t.App, "PinChangeList", &cobra.Command{Use: "diff OLD NEW", Args: cobra.ExactArgs(2)}, diff, func(changes []pins.Change) [][]string {
		if len(changes) == 0 {
			return [][]string{{"nothing that is built differs"}}
		}
		return app.Table("COMPONENT WHAT OLD NEW", changes, func(c pins.Change) []string {
			return []string{c.Component, c.What, cmp.Or(c.Old, "-"), cmp.Or(c.New, "-")}
		})
	})
}
