// Package kube turns Kubernetes objects into the inventory's model: which
// DaemonSets run a CSI driver, which version in which mode, which nodes run
// Windows, which volumes their pods use.
//
// Every reader (manifests, must-gather, cluster) hands its objects to one
// Collector, so the same objects give the same inventory wherever they were
// read. The package reads no files and no network, and judges nothing.
package kube

import (
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// Options is what a Collector needs to know in addition to the objects.
type Options struct {
	// Catalog names the drivers; nil knows none.
	Catalog *catalog.Catalog
	// ImageVersions maps an image reference, its repository or its digest to
	// the version in it, as the user says; vX.Y.Z@COMMIT for one of that commit.
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
	counts  map[inventory.Resource]int
	seen    map[inventory.Object]string // where each object was read first
	drivers map[inventory.Object]inventory.Driver
	systems map[string]string // of the nodes, by name
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
	broken      map[brokenKey]map[string]bool
	logs        []logLine
	wmco        []wmcoFact
	other       string // see inventory.Cluster.Other
	volumes
}

// taker is how the objects of one kind are taken, with the Collector locked.
type taker struct {
	into func() any
	// once: of an object that is met again only the first is taken. It counts for
	// resource, "" for one that nobody asks the number of.
	once     bool
	resource inventory.Resource
	take     func(c *Collector, o inventory.Object, object any, at Locator)
}

// fields are an object whose type isn't in k8s.io/api.
type fields = map[string]any

const (
	linux   = "linux"
	windows = "windows"
)

// osLabels name a node's operating system; the second is the old one.
var osLabels = []string{corev1.LabelOSStable, "beta.kubernetes.io/os"}

// Cover notes how much of a resource the reader saw: all of it, unless cov has a
// Reason. What was taken is counted in addition to cov's own Count.
func (c *Collector) Cover(r inventory.Resource, cov inventory.Coverage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cov.Complete = cov.Reason == ""
	cov.Count += c.counts[r]
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

func typed[T any](take func(*Collector, inventory.Object, *T, Locator)) taker {
	return taker{
		into: func() any { return new(T) },
		take: func(c *Collector, o inventory.Object, object any, at Locator) { take(c, o, object.(*T), at) }, //nolint:forcetypeassert // made above
	}
}

func once[T any](resource inventory.Resource, take func(*Collector, inventory.Object, *T, Locator)) taker {
	t := typed(take)
	t.once, t.resource = true, resource
	return t
}

// repeated tells whether o was met before, and not in an earlier state. kept is
// what the model keeps of it, without where it was read.
func (c *Collector) repeated(o inventory.Object, r inventory.Resource, kept func() any, at Locator) bool {
	again := !c.first(o, r, at)
	if !c.compare {
		return again
	}
	old, now := c.copies[o], taken{at(), kept()}
	switch {
	case !again:
		c.copies[o] = now
	case reflect.DeepEqual(old.kept, now.kept) || earlier(now.kept, old.kept):
	case earlier(old.kept, now.kept):
		c.copies[o] = now
		c.pods = slices.DeleteFunc(c.pods, func(p podRecord) bool { return p.object == o })
		return false
	default:
		c.differences = append(c.differences, difference{o, old, now})
	}
	return again
}

// earlier tells of a copy that shows no more than an earlier state of a pod: it
// wasn't bound yet, or hadn't pulled its images. Of one that ended and one that
// runs the latter counts: a StatefulSet gives its next pod the same name.
func earlier(one, other any) bool {
	a, isPod := one.(podCopy)
	b, _ := other.(podCopy)
	switch {
	case !isPod || b.ended:
		return false
	case a.ended:
		return true
	case a.node == "":
		a.node = b.node
	}
	for name, id := range a.images {
		if b.images[name] != id {
			return false
		}
	}
	a.images = b.images
	return reflect.DeepEqual(a, b)
}

// onLinux tells of a node that runs Linux: by itself, or, where it wasn't read,
// by a pod on it that asks for Linux.
func (c *Collector) onLinux(node string) bool {
	return c.systems[node] == linux || c.linuxHomes[node] && !c.readNode(node)
}

func (c *Collector) readNode(name string) bool {
	_, read := c.seen[inventory.Object{Kind: "Node", Name: name}]
	return read
}
