// Package deploy reads payloads for nodes, and brings one with verify.exe to a
// machine that is reached over a [Guest], Packer's communicator. What is done on
// the machine is verify.exe's (package agent).
package deploy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
)

// Guest is a machine that can be reached. Names of files are relative to the
// user's folder and slash-separated; commands run in that folder, under
// whatever shell the machine has, so they hold nothing that cmd.exe and
// PowerShell read differently: no quotes, no spaces within a word.
type Guest interface {
	// Run runs a command and returns its exit code. An error says that it
	// couldn't be run, or that the connection broke off meanwhile.
	Run(ctx context.Context, command string, stdout, stderr io.Writer) (code int, err error)
	// Put writes a file, with the folders above it, under another name first:
	// what has the name is whole.
	Put(ctx context.Context, name string, content io.Reader) error
}

// folder is where verify.exe and what is uploaded are on the machine until
// Clean, below the user's own folder: nobody else may write there.
const folder = ".winbake"

// Node is a machine that verify.exe is brought to.
type Node struct {
	Guest Guest
	// Exe is verify.exe.
	Exe []byte
	// Say is told what is done, one sentence at a time.
	Say func(string)
}

// short is enough of a sum to tell two contents apart in a file's name.
func short(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:12] }

// ExeName is what a verify.exe is called on a machine.
func ExeName(exe []byte) string { return "verify-" + short(exe) + ".exe" }

// bring brings verify.exe to the machine, unless it is there already.
func (n *Node) bring(ctx context.Context) error {
	if _, err := n.run(ctx, "version"); err == nil {
		return nil
	}
	n.Say("uploading verify.exe")
	return n.Guest.Put(ctx, folder+"/"+ExeName(n.Exe), bytes.NewReader(n.Exe))
}

// run runs verify.exe and returns what it printed, also with an error. Words in args
// hold neither spaces nor quotes.
func (n *Node) run(ctx context.Context, args ...string) ([]byte, error) {
	var out, trouble bytes.Buffer
	line := strings.Join(args, " ")
	code, err := n.Guest.Run(ctx, folder+`\`+ExeName(n.Exe)+" "+line, &out, &trouble)
	if err == nil && code != 0 {
		err = &fault.Error{What: fmt.Sprintf("verify.exe %s ended with exit code %d on the machine", line, code), Excerpt: strings.TrimSpace(trouble.String()),
			Fix: "see what it says; a payload of another release may have another verify.exe: bake payload --with-verify"}
	}
	return out.Bytes(), err
}

// CheckImage has verify.exe check the image that is made of the machine (package
// imagecheck), and returns its report in JSON.
func (n *Node) CheckImage(ctx context.Context, profile string) ([]byte, error) {
	if err := n.bring(ctx); err != nil {
		return nil, err
	}
	out, err := n.run(ctx, "node", "check", "--image", "-o", "json", "--profile", profile)
	if json.Valid(out) && !errors.Is(err, ErrBroken) { // its exit code says what it found
		return out, nil
	}
	return nil, err
}

// Facts asks the machine what it is, against e.
func (n *Node) Facts(ctx context.Context, e *node.Expectation) (*node.Facts, error) {
	if err := n.bring(ctx); err != nil {
		return nil, err
	}
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	name := "node-" + short(data) + ".json"
	if err := n.Guest.Put(ctx, folder+"/"+name, bytes.NewReader(data)); err != nil {
		return nil, err
	}
	facts := new(node.Facts)
	return facts, n.answer(ctx, facts, "node", "check", folder+`\`+name, "--facts")
}

// answer runs verify.exe and reads what it answers in JSON.
func (n *Node) answer(ctx context.Context, into any, args ...string) error {
	out, err := n.run(ctx, args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return &fault.Error{What: "verify.exe answered something else than was asked: " + err.Error(), Fix: "use a payload of this release: bake payload --with-verify", Err: err}
	}
	return nil
}

// Options bound how long a service's process may take to end, and its pipes to
// answer.
type Options struct{ Stop, Start time.Duration }

// Install makes the machine what the image says, and returns what was done. Nothing is
// uploaded to a machine that is right already.
func (n *Node) Install(ctx context.Context, im *Image, o Options) (*agent.Result, error) {
	facts, err := n.Facts(ctx, im.Expectation)
	if err != nil {
		return nil, err
	}
	wrong := func(f finding.Finding) bool { return f.Severity == finding.Block || f.Severity == finding.Warn }
	if !slices.ContainsFunc(node.Compare(im.Expectation, facts), wrong) {
		return new(agent.Result), nil
	}
	dir, err := n.upload(ctx, im)
	if err != nil {
		return nil, err
	}
	n.Say("installing the payload")
	result := new(agent.Result)
	err = n.answer(ctx, result, "node", "install", strings.ReplaceAll(dir, "/", `\`), "-o", "json", "--stop-timeout", o.Stop.String(), "--start-timeout", o.Start.String())
	return result, err
}

// upload brings the payload to the machine as a folder that verify.exe reads. What
// a try before this one brought isn't sent again.
func (n *Node) upload(ctx context.Context, im *Image) (dir string, err error) {
	data, err := im.Expectation.Encode()
	if err != nil {
		return "", err
	}
	dir = folder + "/" + short(data)
	if err := n.Guest.Put(ctx, dir+".winbake/"+payload.ExpectationName, bytes.NewReader(data)); err != nil {
		return "", err
	}
	var there bytes.Buffer
	if _, err := n.Guest.Run(ctx, "cmd /c dir /b /s "+strings.ReplaceAll(dir, "/", `\`), &there, nil); err != nil {
		return "", err
	}
	arrived := strings.Fields(strings.ReplaceAll(there.String(), `\`, "/"))
	return dir, im.Archives(ctx, im.Expectation.Files, func(f node.File, name string, archive io.Reader) error {
		name = dir + "/" + name
		if slices.ContainsFunc(arrived, func(a string) bool { return strings.HasSuffix(a, "/"+name) }) {
			return nil
		}
		n.Say("uploading " + f.Component + " (" + f.Payload + ")")
		return n.Guest.Put(ctx, name, archive)
	})
}

// ErrBroken says that the connection broke off: whether what was asked for was
// done isn't known.
var ErrBroken = errors.New("the connection broke off")

// Clean removes the folder from the machine.
func (n *Node) Clean(ctx context.Context) error {
	_, err := n.Guest.Run(ctx, "cmd /c rmdir /s /q "+folder, nil, nil)
	return err
}
