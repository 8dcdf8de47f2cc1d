// Package deploy makes a Windows node what a payload image says, over a
// [guest.Guest]: it brings verify.exe and what is missing to the node, has
// verify.exe carry the change out, and brings the answer back.
//
// What is decided on the node is package agent's; this side finds out what has
// to be uploaded and uploads it.
package deploy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
)

// folder is where a node keeps verify.exe and uploads between two runs, below
// the user's own folder: nobody else may write there.
const folder = ".winbake"

// Node is a machine that verify.exe is brought to.
type Node struct {
	Guest guest.Guest
	// Exe is verify.exe.
	Exe []byte
	// Say is told what is done, one sentence at a time.
	Say func(string)

	dir string // "" stands for folder
}

func (n *Node) folder() string { return cmp.Or(n.dir, folder) }

// short is enough of a sum to tell two releases apart in a file's name.
func short(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:12] }

// ExeName is what a verify.exe is called on a node.
func ExeName(exe []byte) string { return "verify-" + short(exe) + ".exe" }

// errAbsent says that the node has no verify.exe of ours to run.
var errAbsent = errors.New("verify.exe isn't on the node")

var errNotWindows = &fault.Error{What: "the machine isn't Windows: it has no such program, and says so as others do", Fix: "see that --ssh names the right one; nothing was brought there"}

// run runs the agent and returns its last line. Words in args hold neither
// spaces nor quotes; files are named relative to the folder.
func (n *Node) run(ctx context.Context, args ...string) (*agent.Line, error) {
	command := n.folder() + `\` + ExeName(n.Exe) + " agent " + strings.Join(args, " ")
	lines := &lineWriter{say: n.Say}
	var trouble bytes.Buffer
	code, err := n.Guest.Run(ctx, command, lines, &trouble)
	if err != nil {
		return nil, err
	}
	switch last := lines.last; {
	case last == nil && !lines.any && code == noCommand:
		return nil, errNotWindows
	case last == nil && !lines.any:
		first, _, _ := strings.Cut(strings.TrimSpace(trouble.String()), "\n")
		return nil, fmt.Errorf("%w: exit code %d: %s", errAbsent, code, first)
	case last == nil:
		return nil, &fault.Error{What: fmt.Sprintf("verify.exe ended in the middle of its work, with exit code %d", code), Excerpt: trouble.String(),
			Fix: "run the same command again: it goes on from there"}
	case last.Fault != nil:
		return nil, last.Fault
	default:
		return last, nil
	}
}

// lineWriter takes the agent's lines apart while they come. What a shell
// prints before them isn't JSON and is passed over.
type lineWriter struct {
	say  func(string)
	rest []byte
	last *agent.Line
	any  bool
}

// maxLine bounds one answer in bytes: facts of thousands of files.
const maxLine = 64 << 20

func (w *lineWriter) Write(p []byte) (int, error) {
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			if len(w.rest) > maxLine {
				return 0, errors.New("the answer is too long")
			}
			return len(p), nil
		}
		w.rest = rest
		w.take(line)
	}
}

func (w *lineWriter) take(line []byte) {
	l := new(agent.Line)
	if json.Unmarshal(line, l) != nil {
		return
	}
	w.any = w.any || l.Say != "" || l.Facts != nil || l.Result != nil || l.Fault != nil
	switch {
	case l.Say != "" && w.say != nil:
		w.say(l.Say)
	case l.Facts != nil, l.Result != nil, l.Fault != nil:
		w.last = l
	}
}

func (n *Node) put(ctx context.Context, name string, data []byte) error {
	return n.Guest.Put(ctx, n.folder()+"/"+name, bytes.NewReader(data))
}

// Facts asks the node what it is, against e. verify.exe and the expectation
// are brought only where they aren't there already: the second time this is
// one round trip.
func (n *Node) Facts(ctx context.Context, e *node.Expectation, quick bool) (*node.Facts, error) {
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	name := "expect-" + short(data) + ".json"
	args := []string{"facts", "--expect", n.folder() + `\` + name, "--stage", n.folder() + `\stage`}
	if quick {
		args = append(args, "--quick")
	}
	facts, err := n.ask(ctx, e, args)
	if err == nil || ctx.Err() != nil || errors.Is(err, guest.ErrBroken) || errors.Is(err, errNotWindows) {
		return facts, err
	}
	var refused error
	// Another run's change may remove what was brought (package agent, tidy): it
	// is brought twice before that is an error.
	for range 2 {
		refused = nil
		if errors.Is(err, errAbsent) {
			// Those of other releases go with the next change: another run may be using one.
			n.say("uploading verify.exe")
			refused = n.put(ctx, ExeName(n.Exe), n.Exe)
		}
		if err := n.put(ctx, name, data); errors.Is(err, guest.ErrInUse) {
			refused = cmp.Or(refused, err)
		} else if err != nil {
			return nil, cmp.Or(refused, err)
		}
		facts, err = n.ask(ctx, e, args)
		if n.startsLater(ctx, err) {
			facts, err = n.ask(ctx, e, args)
		}
		if err == nil || ctx.Err() != nil || errors.Is(err, errAbsent) || errors.Is(err, guest.ErrBroken) {
			break
		}
	}
	if err != nil && refused != nil { // else another run had brought it, and runs it
		return nil, refused
	}
	if errors.Is(err, errAbsent) {
		err = &fault.Error{What: "verify.exe doesn't run there: " + err.Error(), Fix: "see that the machine is Windows for amd64 and that nothing there keeps programs in the user's folder from running", Err: err}
	}
	return facts, err
}

// startsLater waits a moment when verify.exe, which is there, didn't start: a
// virus scanner may hold a program that is new to it, and Wine's loader fails
// once in some hundred starts on a machine with much to do. Nothing was done,
// since it says what it does.
func (n *Node) startsLater(ctx context.Context, err error) bool {
	if !errors.Is(err, errAbsent) {
		return false
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Second):
		return true
	}
}

// ask runs verify.exe as it lies there and takes no answer to another question.
func (n *Node) ask(ctx context.Context, e *node.Expectation, args []string) (*node.Facts, error) {
	line, err := n.run(ctx, args...)
	switch {
	case err != nil:
		return nil, err
	case line.Facts == nil:
		return nil, &fault.Error{What: "verify.exe answered something else than facts", Fix: "use a payload of this release: bake payload --with-verify"}
	case line.Facts.Protocol != node.Protocol:
		return nil, agent.ProtocolFault(node.Protocol, line.Facts.Protocol)
	case !line.Facts.Cover(e):
		return nil, &fault.Error{What: "verify.exe answered another question than it was asked", Fix: "see who else writes into that user's folder on the node, then run this again"}
	}
	return line.Facts, nil
}

// noCommand is the exit code of a POSIX shell for a command that there isn't
// (https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02).
const noCommand = 127

func (n *Node) say(s string) {
	if n.Say != nil {
		n.Say(s)
	}
}

// cleanTime is how long cleaning up may take after the person has given up.
const cleanTime = 2 * time.Second

// Clean removes the folder from the node.
func (n *Node) Clean(ctx context.Context) error {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
		defer cancel()
	}
	_, err := n.Guest.Run(ctx, "cmd /c rmdir /s /q "+n.folder(), nil, nil)
	return err
}

// Check asks a node for its facts and leaves nothing there: verify.exe and the
// expectation are brought into a folder of their own, which is removed
// whatever happens, as long as the node can be reached; the next one's
// verify.exe removes what one left that was cut off.
func Check(ctx context.Context, g guest.Guest, exe []byte, e *node.Expectation, say func(string)) (*node.Facts, error) {
	n := &Node{Guest: g, Exe: exe, Say: say, dir: agent.CheckPrefix + rand.Text()}
	facts, err := n.Facts(ctx, e, false)
	return facts, errors.Join(err, n.Clean(ctx))
}

// BesideProgram reads the verify.exe that is next to this program, as make bin
// and a release's archive have it, and returns where it is or should be. On
// Windows the one next to it is the verify of people.
func BesideProgram() (data []byte, path string, err error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self) // plugins of kubectl's are links
	}
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(filepath.Dir(self), payload.VerifyName)
	if _, err := os.Stat(path); err != nil || runtime.GOOS == "windows" {
		path = filepath.Join(filepath.Dir(self), "node", payload.VerifyName)
	}
	data, err = os.ReadFile(path)
	return data, path, err
}
