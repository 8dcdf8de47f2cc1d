package bake

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/csidriver"
)

// readOld reads the DaemonSet of --upgrade-from. driver is what was asked for,
// "" to take the file's.
func readOld(cat *catalog.Catalog, name, driver string) (*csidriver.Old, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "can't read the old DaemonSet: " + err.Error(), Fix: "oc get daemonset NAME -o yaml > " + name, Err: err}
	}
	old, err := csidriver.ParseOld(cat, name, text)
	if err != nil {
		return nil, err
	}
	if driver != "" && driver != old.Driver {
		return nil, &fault.Error{Where: name, What: fmt.Sprintf("the DaemonSet in it runs %s, not %s", old.Driver, driver), Fix: "leave the driver's name out, or give another file"}
	}
	return old, nil
}

// writeUpgrade prints what changes as a diff, by the reasons for it.
func writeUpgrade(w io.Writer, cat *catalog.Catalog, old *csidriver.Old, folder *csidriver.Folder, release string) (*csidriver.Upgrade, error) {
	u, err := folder.Compare(cat, old)
	if err != nil {
		return nil, err
	}
	e := &errWriter{w: w}
	e.printf("%s: v%s -> v%s, for OpenShift %s\n", folder.Title, cmp.Or(old.OldVersion(), "(unknown)"), folder.Version.Core(), release)
	if u.Back {
		e.printf("\nThis goes back to an older version. Nothing forbids a newer one on Windows.\n")
	}
	why := ""
	for _, c := range u.Changes {
		if c.Why != why {
			why = c.Why
			e.printf("\n%s:\n", why)
		}
		if c.From != "" {
			e.printf("  - %s: %s\n", c.Where, c.From)
		}
		if c.To != "" {
			e.printf("  + %s: %s\n", c.Where, c.To)
		}
	}
	if len(u.Changes) == 0 {
		e.printf("\nNothing changes.\n")
	}
	if u.Delete != "" {
		e.printf("\nThe old DaemonSet must go first: %s.\n", u.DeleteWhy)
	}
	e.printf("\n")
	return u, e.err
}

// errWriter keeps the first error.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}
