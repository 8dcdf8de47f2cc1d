package walkthrough

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/test/support/await"
	"github.com/winbake/winbake/test/wine/winenode"
)

// node is a Windows node as WMCO sets it up, csi-proxy running as a service.
type node struct{ *winenode.Node }

const (
	csiProxy  = `C:\k\csi-proxy.exe`
	csiLog    = `C:\var\log\csi-proxy\csi-proxy.log`
	csiClient = `C:\tools\csiclient.exe`
)

func startNode(t *testing.T) *node {
	t.Helper()
	n := &node{winenode.Start(t, winenode.Options{})}
	n.Put(t, winenode.Built(t, winenode.CSIProxy11, "csi-proxy"), csiProxy)
	n.Put(t, winenode.Program(t, "./test/wine/winenode/csiclient"), csiClient)
	for _, args := range [][]string{
		{"cmd", "/c", `mkdir C:\var\log\csi-proxy C:\var\lib\kubelet`},
		{"sc.exe", "create", "csi-proxy", "binPath=", csiProxy + " -log_file=" + csiLog + " -logtostderr=false -windows-service --v=2", "start=", "auto"},
		{"sc.exe", "start", "csi-proxy"},
	} {
		if out, err := n.Wine(t.Context(), args...); err != nil {
			t.Logf("%v: %v\n%s", args, err, out) // Wine's codes differ; what counts is the pipes
		}
	}
	var said string
	await.True(t, "the pipes open", func() bool {
		out, err := n.Wine(t.Context(), csiClient, "dial")
		said = fmt.Sprintf("%v\n%s", err, out)
		return err == nil
	}, func() any { return said })
	return n
}

// run types the lines of a block on the node.
func (n *node) run(t *testing.T, p part) string {
	t.Helper()
	var all strings.Builder
	for line := range strings.Lines(p.text) {
		// On a busy machine Wine's sc.exe can fail without a word. A page's lines for a
		// node only ask, so they can be typed again.
		var out []byte
		var err error
		await.True(t, fmt.Sprintf("%s: %s succeeds", p.at, strings.TrimSpace(line)), func() bool {
			out, err = n.Wine(t.Context(), "cmd", "/c", strings.TrimSpace(line))
			return err == nil
		}, func() any { return fmt.Sprintf("%v\n%s", err, out) })
		all.Write(out)
	}
	return strings.ReplaceAll(all.String(), "\r", "")
}

// TestPipesAreServed dials, on a node with the csi-proxy that WMCO brings, every
// pipe that a generated DaemonSet mounts, of all drivers and releases: a mounted
// pipe that nobody serves keeps the pod from starting.
func TestPipesAreServed(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]string{}
	for _, driver := range csidriver.Drivers() {
		for _, r := range cat.Releases {
			v, err := version.ParseOpenShift(r.OpenShift)
			if err != nil {
				t.Fatal(err)
			}
			folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: v, Mode: csidriver.Pipes})
			if err != nil {
				continue // TestServed has the reason
			}
			for _, f := range folder.Files {
				if f.Name != csidriver.DaemonSetFile {
					continue
				}
				for line := range strings.Lines(string(f.Data)) {
					if _, pipe, ok := strings.Cut(strings.TrimSpace(line), `path: \\.\pipe\`); ok {
						users[`\\.\pipe\`+pipe] = driver + " for " + r.OpenShift
					}
				}
			}
		}
	}
	if len(users) < 8 {
		t.Fatalf("only these pipes are mounted: %v", users)
	}
	n := startNode(t)
	served := n.pipes(t, users)
	for pipe, user := range users {
		if served[pipe] == 0 {
			t.Errorf("nobody serves %s, which %s mounts", pipe, user)
		}
	}
}

// pipes asks who serves each; the call fails at the first that isn't there.
func (n *node) pipes(t *testing.T, names map[string]string) map[string]uint32 {
	t.Helper()
	var text strings.Builder
	for name := range names {
		text.WriteString(name + "\n")
	}
	if err := os.WriteFile(filepath.Join(n.C(), "tools", "pipes.txt"), []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := n.Wine(t.Context(), "cmd", "/c", csiClient+` pipes < C:\tools\pipes.txt`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	served := map[string]uint32{}
	if err := json.Unmarshal(out, &served); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return served
}
