package node

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/support/await"
	"github.com/winbake/winbake/test/wine/winenode"
)

// snapshot is what a change may have touched: every file with its content,
// the service as the registry has it, and csi-proxy's processes. Logs grow.
func (n node) snapshot() string {
	n.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(n.C(), func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(path, n.C())
		if err == nil && (rel == "/windows" || rel == "/winenode") {
			return fs.SkipDir
		}
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(rel, ".log") {
			fmt.Fprintln(&b, rel)
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintln(&b, rel, sumOf(data))
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return b.String() + n.service() + fmt.Sprint(n.proxies())
}

// service is csi-proxy's as the registry has it, "" for none.
func (n node) service() string {
	n.t.Helper()
	out, err := n.Wine(n.t.Context(), "reg", "query", `HKLM\SYSTEM\CurrentControlSet\Services\csi-proxy`, "/s")
	if err != nil {
		return ""
	}
	return string(out)
}

// refuses runs a change that must fail with a person's error and exit code 1,
// and leave the node as it was.
func (n node) refuses(want string, args ...string) {
	n.t.Helper()
	before := n.snapshot()
	n.fails(want, args...)
	if after := n.snapshot(); after != before {
		n.t.Errorf("%s: the node was\n%s\nand is\n%s", want, before, after)
	}
}

// beside starts a program on the node and returns what ends it.
func (n node) beside(args ...string) (stop func()) {
	n.t.Helper()
	ctx, cancel := context.WithCancel(n.t.Context())
	ended := make(chan struct{})
	go func() { _, _ = n.Wine(ctx, args...); close(ended) }()
	return func() {
		cancel()
		<-ended
		for _, p := range n.running(args[len(args)-1]) {
			_ = n.Kill(p) // what the program had started
		}
	}
}

// running are the processes whose command line ends in this word.
func (n node) running(word string) []winenode.Process {
	n.t.Helper()
	var found []winenode.Process
	for _, program := range []string{"guest.exe", "marked.exe", "cmd.exe"} {
		all, err := n.Processes(program)
		if err != nil {
			n.t.Fatal(err)
		}
		for _, p := range all {
			if strings.HasSuffix(strings.TrimSpace(p.Command), word) {
				found = append(found, p)
			}
		}
	}
	return found
}

func (n node) waitFor(what string, there func() bool) {
	n.t.Helper()
	await.True(n.t, what, there)
}

// A program that somebody holds open, and a service that is marked for deletion:
// Wine refuses these itself. What the agent notes may be damaged meanwhile.
func TestFailuresOnTheNode(t *testing.T) {
	old, current := image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)
	n := start(t)
	n.must("install", old)
	n.heldOpen(old, current)
	n.damagedNotes(old, current)
	n.marked(old, current)
}

// heldOpen: the old program can't be renamed, when its service was stopped
// already.
func (n node) heldOpen(old, current string) {
	n.t.Helper()
	stop := n.holds(proxyPath)
	before, pids := n.snapshot(), fmt.Sprint(n.proxies())
	n.fails("Sharing violation", "install", current)
	after := strings.Replace(n.snapshot(), fmt.Sprint(n.proxies()), pids, 1) // it was started again
	if after != before {
		n.t.Errorf("with its program held open the node was\n%s\nand is\n%s", before, after)
	}
	stop()
	n.healthy(old)
}

// holds has a program open a file until release.
func (n node) holds(path string) (release func()) {
	n.t.Helper()
	const holder = `C:\holder.cmd`
	n.put(holder, "@C:\\winenode\\guest.exe stay held < "+path+"\r\n")
	stop := n.beside("cmd", "/c", holder)
	n.waitFor("the program that holds it open", func() bool { return len(n.running("stay held")) > 0 })
	return func() {
		n.t.Helper()
		for _, p := range n.running("stay held") {
			if err := n.Kill(p); err != nil {
				n.t.Fatal(err)
			}
		}
		stop()
		n.remove(holder)
	}
}

// damagedNotes spoils what the agent notes on the node between two runs.
func (n node) damagedNotes(old, current string) {
	n.t.Helper()
	state := n.host(`C:\Program Files\Winbake`)
	record := filepath.Join(state, "installed.json")
	good, err := os.ReadFile(record)
	if err != nil {
		n.t.Fatal(err)
	}
	spoil := func(path, text string) {
		n.t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
	spoil(record, "{")
	n.refuses("installed.json", "install", current)
	n.refuses("installed.json", "remove")
	spoil(record, string(good))
	spoil(filepath.Join(state, "journal.json"), `{"verb":`)
	n.refuses("journal.json", "install", current)
	n.finds(old, "WIN016")
	if err := os.Remove(filepath.Join(state, "journal.json")); err != nil {
		n.t.Fatal(err)
	}
	n.changedProgram(old)
}

// changedProgram: a program that isn't the payload's is found and replaced.
func (n node) changedProgram(old string) {
	n.t.Helper()
	n.killProxies()
	if err := os.WriteFile(n.host(proxyPath), []byte("something else"), 0o755); err != nil {
		n.t.Fatal(err)
	}
	n.finds(old, "WIN007")
	n.must("install", old)
	n.healthy(old)
}

// marked: the service is found to be marked before it is stopped.
func (n node) marked(old, current string) {
	n.t.Helper()
	const program, sign = `C:\winenode\marked.exe`, `C:\winenode\is-marked`
	n.Put(n.t, winenode.Program(n.t, "./test/wine/winenode/marked"), program)
	stop := n.beside(program, "csi-proxy", sign)
	n.waitFor("the mark", func() bool { _, err := os.Stat(n.host(sign)); return err == nil })
	for _, c := range [][]string{{"install", current}, {"remove"}} {
		n.refuses("marked for deletion", c...)
	}
	stop()
	n.killProxies()
	n.waitFor("the end of the service", func() bool { return n.service() == "" })
	n.must("install", old)
	n.healthy(old)
}
