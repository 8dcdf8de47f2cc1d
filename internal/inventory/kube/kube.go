// Package kube turns Kubernetes objects into the inventory's model: which
// DaemonSets run a CSI driver, which version in which mode, which nodes run
// Windows, which volumes their pods use.
//
// Every reader (manifests, must-gather, cluster) hands its objects to one
// Collector, so the same objects give the same inventory wherever they were
// read. The package reads no files and no network, and judges nothing.
package kube

import (
	"sync"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/podtext"
)

// Options is what a Collector needs to know in addition to the objects.
type Options struct {
	// Catalog names the drivers; nil knows none.
	Catalog *catalog.Catalog
	// ImageVersions maps an image reference, its repository or its digest to
	// the version in it, as the user says.
	ImageVersions map[string]string
}

// Locator says where a field of an object was read: file:line, or the object
// and the field's path. The elements are string keys and int indexes; none
// mean the object itself. A field that isn't there is placed at the
// nearest thing above it.
type Locator func(path ...any) string

// Collector gathers objects, in any order and from any number of goroutines,
// and joins them in Inventory. It keeps what the model needs of an object and
// not the object.
type Collector struct {
	mu      sync.Mutex
	known   known
	images  map[string]string
	inv     inventory.Inventory
	covered map[inventory.Resource]bool
	counts  map[inventory.Resource]int
	seen    map[inventory.Object]string // where each object was read first
	drivers map[inventory.Object]inventory.Driver
	linux   map[string]bool // nodes that don't run Windows
	windows map[string]bool
	// linuxNodes are name and labels of those that run Linux.
	linuxNodes []inventory.Node
	// homes are the nodes of pods that may run on Windows.
	homes map[string]bool
	// linuxHomes are the nodes of pods that ask for Linux.
	linuxHomes map[string]bool
	// runtimeClasses are what each adds to its pods' scheduling.
	runtimeClasses map[string]inventory.Scheduling
	// classNames are the RuntimeClasses that drivers' DaemonSets name.
	classNames map[inventory.Object]string
	// compare: see CompareCopies.
	compare     bool
	copies      map[inventory.Object]taken
	differences []difference
	csiNodes    map[string]inventory.CSINode
	running     map[runKey]map[string]bool
	logs        []logLine
	clusterVersions
	volumes
}

// NewCollector makes an empty Collector.
func NewCollector(o Options) *Collector {
	return &Collector{
		known:      newKnown(o.Catalog),
		images:     o.ImageVersions,
		covered:    map[inventory.Resource]bool{},
		counts:     map[inventory.Resource]int{},
		seen:       map[inventory.Object]string{},
		drivers:    map[inventory.Object]inventory.Driver{},
		linux:      map[string]bool{},
		windows:    map[string]bool{},
		homes:      map[string]bool{},
		linuxHomes: map[string]bool{},
		csiNodes:   map[string]inventory.CSINode{},
		running:    map[runKey]map[string]bool{},
		inv:        inventory.Inventory{Read: map[inventory.Resource]inventory.Coverage{}},
		volumes: volumes{
			owned: map[key]bool{}, claims: map[key]claim{}, pvs: map[string]backing{}, byClaim: map[key]string{}, classes: map[string]string{},
		},

		copies:         map[inventory.Object]taken{},
		runtimeClasses: map[string]inventory.Scheduling{},
		classNames:     map[inventory.Object]string{},
	}
}

// Cover notes how much of a resource a reader saw. Told twice, by two readers,
// the counts add up, and one that saw all is enough.
func (c *Collector) Cover(r inventory.Resource, cov inventory.Coverage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, again := c.inv.Read[r]
	if again {
		cov.Count += old.Count
		cov.Complete = cov.Complete || old.Complete
		if cov.Reason == "" && !cov.Complete {
			cov.Reason, cov.Fix, cov.Gather, cov.Told = old.Reason, old.Fix, old.Gather, old.Told
		}
	}
	if cov.Complete {
		cov.Reason, cov.Told = "", false
		if cov.Doubt == "" {
			cov.Fix, cov.Gather = "", nil
		}
	}
	c.inv.Read[r] = cov
}

// Problem notes an input that couldn't be read.
func (c *Collector) Problem(p inventory.Problem) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problem(p)
}

func (c *Collector) problem(p inventory.Problem) { c.inv.Problems = append(c.inv.Problems, p) }

// Count is how many objects of a resource were taken so far, each once. For
// Pods it counts pods, not the pod templates of other workloads.
func (c *Collector) Count(r inventory.Resource) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[r]
}

// ObjectLocator is the Locator of an object that is in no file:
// "DaemonSet ns/name spec.template.spec.containers[0].image".
func ObjectLocator(o inventory.Object) Locator {
	return func(path ...any) string {
		if len(path) == 0 {
			return o.String()
		}
		return o.String() + " " + podtext.Dotted(path)
	}
}

// first tells whether o is met for the first time. Objects come twice where a
// list is paged again after its token expired, or where a file was copied.
func (c *Collector) first(o inventory.Object, r inventory.Resource, at Locator) bool {
	if _, again := c.seen[o]; again {
		return false
	}
	c.seen[o] = ""
	if o.Kind == "DaemonSet" {
		c.seen[o] = at()
	}
	if r != "" {
		c.counts[r]++
	}
	return true
}
