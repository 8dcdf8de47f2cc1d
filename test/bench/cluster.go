package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// sizes are the nodes of the cluster at each step; it grows, and a goal is for
// its last size.
var sizes = []int{100, 500, 1000, 2500, 5000}

// step is what was measured at one size.
type step struct {
	fleet
	plain, ours usage
}

// cluster measures verify skew against a live API server, and beside it a
// client that lists everything, whole and at once.
func cluster(ctx context.Context) (*table, []step, error) {
	s, err := apiserver.New(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.Stop()
	l, err := newLoader(ctx, s.Config)
	if err != nil {
		return nil, nil, err
	}
	t := &table{head: fmt.Sprintf("kube-apiserver, etcd and `verify skew` on %d cores of %s/%s with %s:",
		runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())}
	var steps []step
	for _, nodes := range sizes {
		began := time.Now()
		if err := l.grow(ctx, nodes); err != nil {
			return nil, nil, fmt.Errorf("grow to %d nodes: %w", nodes, err)
		}
		fmt.Fprintf(os.Stderr, "grown to %+v in %s\n", l.fleet, time.Since(began).Round(time.Second))
		if err := readsAll(ctx, s.Kubeconfig, l.fleet); err != nil {
			return nil, nil, err
		}
		plain, ours, err := sideBySide(ctx, s.Kubeconfig)
		if err != nil {
			return nil, nil, err
		}
		steps = append(steps, step{l.fleet, plain, ours})
	}
	last := steps[len(steps)-1]
	what := fmt.Sprintf("%d nodes: ", last.nodes)
	t.add(what+"time of listing everything / of ours", seconds(last.plain.wall), seconds(last.ours.wall), ratio(last.plain.wall, last.ours.wall), atLeast(1))
	t.add(what+"peak memory of listing everything / of ours", megabytes(last.plain.peak), megabytes(last.ours.peak),
		float64(last.plain.peak)/float64(last.ours.peak), atLeast(3))
	t.add(what+"peak memory", "", "", float64(last.ours.peak)/1e6, limit{value: 300, unit: " MB"})
	return t, steps, nil
}

// readsAll makes sure that what is measured next reads what there is.
func readsAll(ctx context.Context, kubeconfig string, f fleet) error {
	out, err := output(ctx, "bin/verify", "skew", "-o", "json", "--details", "--fail-on", "block", "--kubeconfig", kubeconfig)
	if err != nil {
		return err
	}
	var report struct {
		Inventory inventory.Inventory `json:"inventory"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return err
	}
	inv := &report.Inventory
	for resource, want := range map[inventory.Resource]int{
		inventory.Nodes: f.nodes, inventory.CSINodes: f.nodes, inventory.Volumes: f.volumes, inventory.Claims: f.volumes,
		inventory.Pods: f.windows*podsPerNode + f.nodes - f.windows, // of a Linux node the driver's
	} {
		if got := inv.Read[resource]; !got.Complete || got.Count != want {
			return fmt.Errorf("%d %s are there, and were read: %+v", want, resource, got)
		}
	}
	return nil
}

// sideBySide runs both, in turn, and keeps the least of each.
func sideBySide(ctx context.Context, kubeconfig string) (plain, ours usage, err error) {
	self, err := os.Executable()
	if err != nil {
		return plain, ours, err
	}
	for i := range runs {
		p, err := measure(ctx, self, "-child", "list", kubeconfig)
		if err != nil {
			return plain, ours, err
		}
		o, err := measure(ctx, "bin/verify", "skew", "--from", "4.19", "--to", "4.20", "--kubeconfig", kubeconfig)
		if err != nil {
			return plain, ours, err
		}
		if i > 0 {
			p, o = plain.least(p), ours.least(o)
		}
		plain, ours = p, o
	}
	return plain, ours, nil
}

// listAll is the plain client: client-go as it comes, every list in one piece,
// all of them kept until the end.
func listAll(ctx context.Context, kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	c, err := kubeclient.New(config)
	if err != nil {
		return err
	}
	var kept []metav1.ListInterface
	for _, list := range []func() (metav1.ListInterface, error){
		func() (metav1.ListInterface, error) { return c.CoreV1().Namespaces().List(ctx, metav1.ListOptions{}) },
		func() (metav1.ListInterface, error) { return c.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{}) },
		func() (metav1.ListInterface, error) { return c.CoreV1().Nodes().List(ctx, metav1.ListOptions{}) },
		func() (metav1.ListInterface, error) { return c.StorageV1().CSINodes().List(ctx, metav1.ListOptions{}) },
		func() (metav1.ListInterface, error) {
			return c.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
		},
		func() (metav1.ListInterface, error) { return c.CoreV1().Pods("").List(ctx, metav1.ListOptions{}) },
		func() (metav1.ListInterface, error) {
			return c.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
		},
		func() (metav1.ListInterface, error) {
			return c.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
		},
	} {
		l, err := list()
		if err != nil {
			return err
		}
		kept = append(kept, l)
	}
	runtime.KeepAlive(kept)
	return nil
}

// growth is how both grow with the cluster.
func growth(steps []step) string {
	var s strings.Builder
	s.WriteString("| nodes | ours, peak memory | listing everything, peak memory |\n|---|---|---|\n")
	for _, x := range steps {
		fmt.Fprintf(&s, "| %d | %s, %s | %s, %s |\n", x.nodes,
			seconds(x.ours.wall), megabytes(x.ours.peak), seconds(x.plain.wall), megabytes(x.plain.peak))
	}
	return s.String()
}
