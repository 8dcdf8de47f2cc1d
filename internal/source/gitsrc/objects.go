package gitsrc

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1" // git's own; it looked for collisions when it fetched
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/fault"
)

// objects gives the objects of one repository, each hashed while it is read:
// git doesn't hash again what it finds in its store. One git process answers,
// one object at a time.
type objects struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	pipe  io.Closer // of out
	out   *bufio.Reader
	words bytes.Buffer // what git prints on stderr; complete once it ended
}

func openObjects(ctx context.Context, repo string) (*objects, error) {
	o := &objects{cmd: command(ctx, repo, "--git-dir="+repo, "cat-file", "--batch")}
	o.cmd.Stderr = &o.words
	in, err := o.cmd.StdinPipe()
	if err != nil {
		return nil, failed("cat-file", err)
	}
	out, err := o.cmd.StdoutPipe()
	if err == nil {
		err = o.cmd.Start()
	}
	if err != nil {
		return nil, failed("cat-file", err)
	}
	o.in, o.pipe, o.out = in, out, bufio.NewReader(out)
	return o, nil
}

// close ends git and returns what it died of, nil if it says nothing.
func (o *objects) close() error {
	// Without its pipes git ends, whatever it is at.
	err := errors.Join(o.pipe.Close(), o.in.Close(), o.cmd.Wait())
	if err == nil || o.words.Len() == 0 {
		return nil
	}
	return fmt.Errorf("git cat-file: %s", strings.TrimSpace(o.words.String()))
}

// open starts object id, of a kind such as blob. The one before it must have
// been read to its end.
func (o *objects) open(id, kind string) (*object, error) {
	if _, err := io.WriteString(o.in, id+"\n"); err != nil {
		return nil, fmt.Errorf("ask git for %s %s: %w", kind, id, err)
	}
	line, err := o.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", kind, id, noEOF(err))
	}
	var name, is string
	var size int64
	if _, err := fmt.Sscanf(line, "%s %s %d\n", &name, &is, &size); err != nil || is != kind {
		return nil, fmt.Errorf("%s %s: git says %q", kind, id, strings.TrimSpace(line))
	}
	sum := sha1.New()
	if len(id) == hex.EncodedLen(sha256.Size) {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "%s %d\x00", kind, size)
	return &object{id: id, kind: kind, from: o.out, left: size, sum: sum}, nil
}

func (o *objects) read(id, kind string) ([]byte, error) {
	r, err := o.open(id, kind)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// object reads the content of one object. It gives an error in place of io.EOF
// when that hashes to another name.
type object struct {
	id, kind string
	from     *bufio.Reader
	left     int64
	sum      hash.Hash
	end      error
}

func (b *object) Read(p []byte) (int, error) {
	if b.left > 0 {
		n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
		b.left -= int64(n)
		b.sum.Write(p[:n])
		if err != nil {
			err = fmt.Errorf("read %s %s: %w", b.kind, b.id, noEOF(err))
		}
		return n, err
	}
	if b.end == nil {
		b.end = b.check()
	}
	return 0, b.end
}

// check takes the line end that follows an object, and compares its name.
func (b *object) check() error {
	if _, err := b.from.ReadByte(); err != nil {
		return fmt.Errorf("read %s %s: %w", b.kind, b.id, noEOF(err))
	}
	if got := hex.EncodeToString(b.sum.Sum(nil)); got != b.id {
		return &otherContent{fmt.Sprintf("%s %s hashes to %s", b.kind, b.id, got)}
	}
	return io.EOF
}

// otherContent is an object that isn't what its name says.
type otherContent struct{ text string }

func (e *otherContent) Error() string { return e.text }

// noEOF keeps a git that died from looking like the end of an object.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Checkout writes the commit's tree into dir, which must not exist, with its
// submodules if asked for, byte for byte as it was committed, and hashes every
// file that it wrote against the commit.
func (c *Commit) Checkout(ctx context.Context, dir string, submodules bool) error {
	template, err := plainTemplate()
	if err != nil {
		return err
	}
	defer os.RemoveAll(template)
	if _, err := git(ctx, os.TempDir(), "init", "--quiet", "--template="+template, objectFormat(c.Hash), dir); err != nil {
		return err
	}
	// Borrowing the objects, not cloning: git refuses to share with a shallow
	// repository, and the checkout lives no longer than one build.
	alternates := filepath.Join(dir, ".git", "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(filepath.Join(c.repo, "objects")+"\n"), 0o644); err != nil {
		return fmt.Errorf("borrow objects: %w", err)
	}
	// Relative submodule URLs are resolved against the remote (gitmodules(5)).
	if _, err := git(ctx, dir, "remote", "add", "--", "origin", c.URL); err != nil {
		return err
	}
	if _, err := git(ctx, dir, "checkout", "--quiet", "--detach", c.Hash); err != nil {
		return c.explain(ctx, err)
	}
	if submodules {
		if err := c.submodules(ctx, dir, template); err != nil {
			return err
		}
	}
	return c.prove(ctx, dir)
}

// asCommitted are attributes that leave every byte alone. Where a tree says
// "* text", git could not even say afterwards whether a file with CRLF is the
// commit's: it would look for one with LF. A filter is the person's, who may
// have none.
const asCommitted = "* -text -ident -filter !working-tree-encoding\n"

// plainTemplate makes a folder that git repositories are begun from. Its
// attributes stand over those of the tree (gitattributes(5)).
func plainTemplate() (string, error) {
	dir, err := os.MkdirTemp("", "winbake-template-")
	if err != nil {
		return "", fmt.Errorf("make a folder for git's template: %w", err)
	}
	info := filepath.Join(dir, "info")
	err = os.Mkdir(info, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "attributes"), []byte(asCommitted), 0o644)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("write git's template: %w", err)
	}
	return dir, nil
}

func (c *Commit) submodules(ctx context.Context, dir, template string) error {
	update := command(ctx, dir, "submodule", "--quiet", "update", "--init", "--recursive", "--checkout")
	update.Env = append(update.Env, "GIT_TEMPLATE_DIR="+template)
	_, err := update.Output()
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &fault.Error{Where: c.URL + "@" + c.Hash, What: "a submodule can't be fetched", Excerpt: message(err), Err: err,
		Fix: "check that each URL of the commit's .gitmodules can be reached; a mirror is set with git config url.<mirror>.insteadOf"}
}
