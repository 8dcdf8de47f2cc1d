package winenode

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/support/await"
)

// anyOf lists what lives in a prefix, and whether its folder is there.
func anyOf(t *testing.T, prefix string) (alive []Process, there bool) {
	t.Helper()
	alive, err := processes(prefix)
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Dir(prefix))
	return alive, err == nil
}

// startOrphan starts what outlives the program that started it.
func startOrphan(t *testing.T, n *Node) {
	t.Helper()
	if _, err := n.Wine(t.Context(), "cmd", "/c", "start", "/b", `C:\winenode\guest.exe`, "stay"); err != nil {
		t.Fatal(err)
	}
	if got, err := n.Processes("guest.exe"); err != nil || len(got) != 2 {
		t.Fatalf("the node's programs are %+v, %v; want the one that holds it and an orphan", got, err)
	}
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	var prefix string
	t.Run("node", func(t *testing.T) {
		n := Start(t, Options{})
		prefix = n.Prefix
		startOrphan(t, n)
		run(t, dial(t, n), "", "ver")
	})
	if alive, there := anyOf(t, prefix); len(alive) > 0 || there {
		t.Errorf("after the node %+v live, its folder is there: %t", alive, there)
	}
}

// childVariable makes this test binary a process that starts a node and waits.
const childVariable = "WINENODE_TEST_CHILD"

// TestChild is the process that TestKilledTestLeavesNothing kills. On its own
// it starts a node and ends it.
func TestChild(t *testing.T) {
	t.Parallel()
	n := Start(t, Options{})
	if os.Getenv(childVariable) == "" {
		if alive, there := anyOf(t, n.Prefix); len(alive) == 0 || !there {
			t.Errorf("a running node has %d processes, its folder is there: %t", len(alive), there)
		}
		return
	}
	startOrphan(t, n)
	_, _ = os.Stdout.WriteString("\nprefix " + n.Prefix + "\n")
	select {} // until it's killed
}

func TestKilledTestLeavesNothing(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	prefix := ""
	for lines := bufio.NewScanner(out); prefix == "" && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "prefix "); ok {
			prefix = rest
		}
	}
	if prefix == "" {
		t.Fatal("the child started no node")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	var alive []Process
	var there bool
	await.True(t, "nothing is left of a node whose test was killed", func() bool {
		alive, there = anyOf(t, prefix)
		return len(alive) == 0 && !there
	}, func() any { return fmt.Sprintf("%+v live, the folder is there: %t", alive, there) })
}
