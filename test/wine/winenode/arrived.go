package winenode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/winbake/winbake/test/wine/winenode/answer"
)

// arrived is what clients have brought to a node.
type arrived struct {
	mu    sync.Mutex
	steps []Step
	files []string
}

// Step is a command that a client ran.
type Step struct {
	Command string
	// Scripts are those that it names, and that they name, as they were then:
	// the next step may put another into the same place.
	Scripts []File
}

// File is a file of a node, by its path there.
type File struct {
	Path string
	Data []byte
}

// Steps are the commands that clients have run, in their order.
func (n *Node) Steps() []Step {
	n.arrived.mu.Lock()
	defer n.arrived.mu.Unlock()
	return slices.Clone(n.arrived.steps)
}

// Uploads are the files that clients have written and that are still there.
func (n *Node) Uploads() []File {
	n.arrived.mu.Lock()
	paths := slices.Compact(slices.Sorted(slices.Values(n.arrived.files)))
	n.arrived.mu.Unlock()
	var all []File
	for _, path := range paths {
		if data, ok := n.smallFile(path); ok {
			all = append(all, File{path, data})
		}
	}
	return all
}

// smallFile reads a file that may be a script: those are small.
func (n *Node) smallFile(windows string) ([]byte, bool) {
	path, err := n.Path(windows)
	if err != nil {
		return nil, false
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil, false
	}
	data, err := os.ReadFile(path)
	return data, err == nil
}

// Uploaded notes that a client has written a file: SFTP does, and a service
// beside it that takes files as well has to.
func (n *Node) Uploaded(windows string) {
	n.arrived.mu.Lock()
	defer n.arrived.mu.Unlock()
	n.arrived.files = append(n.arrived.files, strings.ReplaceAll(strings.TrimLeft(windows, "/"), "/", `\`))
}

func (n *Node) remember(command string) {
	r := Step{Command: command}
	seen := map[string]bool{}
	for next := answer.ScriptPaths(command); len(next) > 0; next = next[1:] {
		path := strings.ReplaceAll(next[0], "/", `\`)
		data, ok := n.smallFile(path)
		if key := strings.ToLower(filepath.Clean(path)); ok && !seen[key] {
			seen[key] = true
			r.Scripts = append(r.Scripts, File{path, data})
			next = append(next, answer.ScriptPaths(string(data))...)
		}
	}
	n.arrived.mu.Lock()
	defer n.arrived.mu.Unlock()
	n.arrived.steps = append(n.arrived.steps, r)
}
