//go:build operator

// Package realoperator starts a Windows Machine Config Operator, a program that
// the user has, over the payload of an image: the operator is the judge of what an
// operator demands. `make e2e-operator` runs it. Package operator next to it plays
// the operator and runs everywhere.
package realoperator

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

// given is an environment variable that `make e2e-operator` sets.
func given(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s isn't set: make e2e-operator OPERATOR=PROGRAM IMAGE=LAYOUT F=PINS", name)
	}
	return value
}

func TestOperator(t *testing.T) {
	o := newOperator(t, given(t, "OPERATOR"), given(t, "IMAGE"))
	if log := o.comesUp(t); !strings.Contains(log, "the leader") {
		t.Errorf("the operator didn't become the leader:\n%s", log)
	}
	files := loadCatalog(t).PayloadFiles(o.release)
	if len(files) == 0 {
		t.Fatalf("the catalog doesn't know what the operator of %s demands", o.release)
	}
	o.server.LoadText(t, instance(t))
	t.Run("node", func(t *testing.T) { o.configures(t, files) })
	t.Run("missing", func(t *testing.T) { o.missing(t, files) })
}

// configures plays a Windows instance and compares what the operator copies to
// it with the payload.
func (o *operator) configures(t *testing.T, files []catalog.PayloadFile) {
	n := newNode(t)
	log, _ := o.run(t, n.copied, notConfigured)
	got := n.sums(t)
	for _, f := range files {
		name := filepath.Base(f.Path)
		if elsewhere(f.Platforms) || elsewhere(f.Nodes) {
			continue
		}
		if want := o.sum(t, f.Path); got[name] != want {
			t.Errorf("%s: the instance has %q, the payload %s", name, got[name], want)
		}
	}
	if got["network-conf.ps1"] == "" {
		t.Error("the instance has no network-conf.ps1, which the operator writes into /payload/generated")
	}
	if t.Failed() {
		t.Log(log)
	}
}

// notConfigured begins what the operator logs when it gives up on an instance.
const notConfigured = "error configuring host"

// elsewhere says that a file is for platforms of which the played one isn't.
func elsewhere(platforms []string) bool {
	return len(platforms) > 0 && !slices.Contains(platforms, "None")
}

// missing takes away one file at a time and holds the catalog's word of what
// the operator does then against what it does.
func (o *operator) missing(t *testing.T, files []catalog.PayloadFile) {
	for _, f := range files {
		t.Run(f.Path, func(t *testing.T) {
			o.takeAway(t, o.file(f.Path))
			switch {
			case f.When == catalog.Start:
				o.exits(t, filepath.Base(o.file(f.Path)))
			case elsewhere(f.Platforms):
				o.comesUp(t)
			default:
				o.givesUp(t, filepath.Base(o.file(f.Path)))
			}
		})
	}
	t.Run("generated", func(t *testing.T) {
		o.takeAway(t, filepath.Join(o.payload, "generated"))
		o.exits(t, "generated/network-conf.ps1")
	})
	if o.archived() {
		t.Run("sha256sum", func(t *testing.T) {
			o.takeAway(t, filepath.Join(o.payload, "sha256sum"))
			o.exits(t, "/payload/sha256sum")
		})
	}
}

// givesUp plays a Windows instance, which the operator must leave before it
// starts what it copied there, and say for want of what. Up to 4.20 it copies
// nothing; from 4.21 on it sees that an archive is missing when it comes to it.
func (o *operator) givesUp(t *testing.T, name string) {
	t.Helper()
	n := newNode(t)
	log, code := o.run(t, n.copied, notConfigured)
	if code != stopped || !strings.Contains(log, notConfigured) || !strings.Contains(log, name) {
		t.Errorf("the operator ends with %d, and doesn't give up for want of %s:\n%s", code, name, log)
	}
}

// takeAway hides a file or a folder from the operator until the test ends.
func (o *operator) takeAway(t *testing.T, path string) {
	t.Helper()
	aside := filepath.Join(o.root, "aside")
	if err := os.Rename(path, aside); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Rename(aside, path); err != nil {
			t.Fatal(err)
		}
	})
}

// comesUp starts the operator and ends it once its controllers run.
func (o *operator) comesUp(t *testing.T) (log string) {
	t.Helper()
	log, code := o.run(t, nil, "Starting workers")
	if code != stopped {
		t.Fatalf("the operator exits with %d:\n%s", code, log)
	}
	return log
}

// exits starts the operator, which must end with code 1 and name what it lacks.
func (o *operator) exits(t *testing.T, name string) {
	t.Helper()
	if log, code := o.run(t, nil, "Starting workers"); code != 1 || !strings.Contains(log, name) {
		t.Errorf("the operator ends with %d and doesn't name %s:\n%s", code, name, log)
	}
}
