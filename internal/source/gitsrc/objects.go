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
	"os/exec"
	"strings"
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
