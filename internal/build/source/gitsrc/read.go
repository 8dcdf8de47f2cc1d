package gitsrc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
)

// The modes of a tree's entries
// (https://git-scm.com/book/en/v2/Git-Internals-Git-Objects).
const (
	modeTree   = "40000"
	modeLink   = "120000"
	modeModule = "160000"
)

// Open returns the content of one file of the commit's tree, as it was
// committed. The commit, each folder on the way and the file are hashed: Read
// gives a fault instead of io.EOF if the file isn't the commit's. Use nothing
// before the end was reached.
func (c *Commit) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	id, err := c.find(ctx, path)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	size, err := git(ctx, c.repo, "cat-file", "-s", id)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	b := &blob{ctx: ctx, commit: c, id: id, cmd: command(ctx, c.repo, "cat-file", "blob", id), sum: hasher(id)}
	fmt.Fprintf(b.sum, "blob %s\x00", size)
	b.out, err = b.cmd.StdoutPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	return b, err
}

// lfs begins the file that Git LFS has in a tree for one that it keeps elsewhere:
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
const lfs = "version https://git-lfs.github.com/spec/v1\n"

// RefusePointer refuses a file that begins as a Git LFS pointer does. What it returns reads
// the file from its start.
func RefusePointer(r io.Reader, where, name string) (io.Reader, error) {
	head := bufio.NewReader(r)
	if start, _ := head.Peek(len(lfs)); string(start) == lfs {
		return nil, &fault.Error{
			Where: where, What: name + " is a Git LFS pointer: the tree doesn't have the file's content",
			Fix: "pin a commit that has the content, or carry the file itself: file: and sha256:",
		}
	}
	return head, nil
}

// blob is a file while git writes it.
type blob struct {
	ctx    context.Context
	commit *Commit
	id     string
	cmd    *exec.Cmd
	out    io.ReadCloser
	sum    hash.Hash
	end    error
}

func (b *blob) Read(p []byte) (int, error) {
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.out.Read(p)
	b.sum.Write(p[:n])
	if err == nil && b.ctx.Err() == nil {
		return n, nil
	}
	if b.end = b.cmd.Wait(); b.end == nil {
		b.end = named("blob", b.id, b.sum)
	}
	if b.end == nil && b.ctx.Err() == nil {
		b.end = io.EOF
		return n, b.end
	}
	b.end = b.commit.explain(b.ctx, b.end)
	return n, b.end
}

// Close ends git.
func (b *blob) Close() error {
	if b.end == nil {
		_ = b.out.Close() // git ends without it
		_ = b.cmd.Wait()  // it was told to end
		b.end = fs.ErrClosed
	}
	return nil
}

// find walks down the trees to a file.
func (c *Commit) find(ctx context.Context, path string) (id string, err error) {
	mode, id := modeTree, c.Tree
	for part := range strings.SplitSeq(path, "/") {
		if mode != modeTree {
			return "", c.none(path)
		}
		tree, err := object(ctx, c.repo, "tree", id)
		if err != nil {
			return "", err
		}
		var ok bool
		if mode, id, ok = entry(tree, part, len(id)/2); !ok {
			return "", c.none(path)
		}
	}
	switch mode {
	case modeTree, modeModule:
		return "", c.none(path)
	case modeLink:
		return "", &fault.Error{Where: c.where(), What: path + " is a link in this commit, not a file", Fix: "pin the file that it points to: git show " + shell.Word(c.Hash+":"+path)}
	}
	return id, nil
}

// entry finds a name in a tree: "mode name\0id" again and again, the id being
// as many bytes as size.
func entry(tree []byte, name string, size int) (mode, id string, ok bool) {
	for len(tree) > 0 {
		head, rest, found := bytes.Cut(tree, []byte{0})
		if !found || len(rest) < size {
			return "", "", false
		}
		m, n, _ := strings.Cut(string(head), " ")
		if n == name {
			return m, hex.EncodeToString(rest[:size]), true
		}
		tree = rest[size:]
	}
	return "", "", false
}

func (c *Commit) none(path string) error {
	return &fault.Error{Where: c.where(), What: "no file " + path + " in this commit", Fix: "look for it: git ls-tree -r --name-only " + c.Hash}
}

// Logged is one commit of a history.
type Logged struct {
	Commit, Subject string
	Date            time.Time
}

// Beyond lists the commits of a fork that upstream's tag doesn't have, merges left
// out, the newest first. It fetches both histories, and no files.
func (c *Cache) Beyond(ctx context.Context, fork, commit, upstream, tag string) ([]Logged, error) {
	if !fullHash.MatchString(commit) {
		return nil, &fault.Error{Where: fork, What: fmt.Sprintf("%q isn't a full commit", commit), Fix: "pin all of its digits"}
	}
	repo, unlock, err := c.open(ctx, fork, "history", commit)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, f := range []struct{ url, ref, into string }{
		{fork, commit, "refs/winbake/fork"},
		{upstream, "refs/tags/" + tag, "refs/winbake/upstream"},
	} {
		if _, err := git(ctx, repo, "fetch", "--quiet", "--no-tags", "--filter=tree:0", "--", f.url, "+"+f.ref+":"+f.into); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, &fault.Error{Where: f.url, What: "the history of " + f.ref + " can't be fetched", Excerpt: message(err), Err: err,
				Fix: "check that it is there: git ls-remote " + shell.Word(f.url)}
		}
	}
	out, err := git(ctx, repo, "log", "--no-merges", "--format=%H%x09%cI%x09%s", "refs/winbake/upstream..refs/winbake/fork")
	if err != nil {
		return nil, err
	}
	var all []Logged
	for line := range strings.Lines(out) {
		fields := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(fields) < 3 {
			continue
		}
		date, err := time.Parse(time.RFC3339, fields[1])
		if err != nil {
			return nil, fmt.Errorf("read the date of %s: %w", fields[0], err)
		}
		all = append(all, Logged{Commit: fields[0], Subject: fields[2], Date: date.UTC()})
	}
	return all, nil
}

// Tags asks a repository for its tags and returns the commit of each.
func Tags(ctx context.Context, url string) (map[string]string, error) {
	return list(ctx, url, "tags")
}

// Branch asks a repository for a branch's newest commit.
func Branch(ctx context.Context, url, name string) (string, error) {
	heads, err := list(ctx, url, "heads")
	if err != nil {
		return "", err
	}
	commit, ok := heads[name]
	if !ok {
		return "", &fault.Error{Where: url, What: "it has no branch " + name, Fix: "git ls-remote --heads " + shell.Word(url)}
	}
	return commit, nil
}

// list asks for all refs of a kind, tags or heads.
func list(ctx context.Context, url, kind string) (map[string]string, error) {
	out, err := git(ctx, os.TempDir(), "ls-remote", "--"+kind, "--", url)
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &fault.Error{Where: url, What: "its " + kind + " can't be had", Excerpt: message(err), Err: err, Fix: "git ls-remote --" + kind + " " + shell.Word(url)}
	}
	tags := map[string]string{}
	for line := range strings.Lines(out) {
		hash, ref, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		// An annotated tag has a second line, with ^{}, that names its commit.
		name, peeled := strings.CutSuffix(strings.TrimPrefix(ref, "refs/"+kind+"/"), "^{}")
		if _, known := tags[name]; !known || peeled {
			tags[name] = hash
		}
	}
	return tags, nil
}
