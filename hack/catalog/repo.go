package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/proc"
)

// repo sees the objects of a fork and of its upstream at once, so that a tree of
// one can be compared with a tree of the other. The clones are only read.
type repo struct {
	upstream, fork string // git directories
	// theirs are the commits that the upstream's branches and tags reach.
	theirs map[string]bool
}

type commit struct {
	id      string
	date    time.Time // of the committer: for a merge on GitHub, when it was merged
	subject string
}

func open(ctx context.Context, fork, upstream string) (*repo, error) {
	r := &repo{upstream: upstream, fork: fork, theirs: map[string]bool{}}
	ids, err := run(ctx, []string{upstream}, "rev-list", "--branches", "--tags", "HEAD")
	for _, id := range ids {
		r.theirs[id] = true
	}
	return r, err
}

// git runs git on the upstream's tags and the commits of both.
func (r *repo) git(ctx context.Context, args ...string) ([]string, error) {
	return run(ctx, []string{r.upstream, r.fork}, args...)
}

func (r *repo) merged(ctx context.Context, commit string) ([]string, error) {
	return r.git(ctx, "for-each-ref", "--format=%(refname:short)", "--merged="+commit, "refs/tags")
}

// tree lists the files of a commit. The vendor folder is left out, which is
// nine tenths of a fork and says nothing of its version; submodules too.
func (r *repo) tree(ctx context.Context, commit string) (tree, error) {
	top, err := r.git(ctx, "-c", "core.quotePath=false", "ls-tree", "--full-tree", "--name-only", commit)
	if err != nil {
		return nil, err
	}
	top = slices.DeleteFunc(top, func(name string) bool { return name == "vendor" })
	args := []string{"-c", "core.quotePath=false", "ls-tree", "-r", "--full-tree", commit, "--"}
	lines, err := r.git(ctx, append(args, top...)...)
	if err != nil {
		return nil, err
	}
	t := make(tree, len(lines))
	for _, line := range lines {
		head, path, ok := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("read the tree of %s: %q", commit, line)
		}
		if f[1] == "blob" {
			t[path] = f[2]
		}
	}
	return t, nil
}

func (r *repo) lines(ctx context.Context, from, to string, paths []string) (int, error) {
	if len(paths) == 0 {
		return 0, nil
	}
	// Only paths: comparing whole folders would read files that a partial clone
	// left out, such as the binary pkg/tool/gen-skus-map of Azure Disk.
	args := []string{"--literal-pathspecs", "diff-tree", "-r", "--numstat", "--no-renames", from, to, "--"}
	out, err := r.git(ctx, append(args, paths...)...)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, line := range out {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			return 0, fmt.Errorf("read the difference of %s and %s: %q", from, to, line)
		}
		// A binary file has dashes, which count as nothing.
		added, _ := strconv.Atoi(f[0])
		removed, _ := strconv.Atoi(f[1])
		n += added + removed
	}
	return n, nil
}

// picks are the subjects of upstream's commits that a branch has taken since it has
// its last version, newest first. OpenShift marks them with upstream's pull request.
func (r *repo) picks(ctx context.Context, steps []step) ([]string, error) {
	all := intervals(steps)
	if len(all) == 0 {
		return nil, nil
	}
	last := all[len(all)-1]
	subjects, err := run(ctx, []string{r.fork}, "log", "--no-merges", "--format=%s", last.first.id+".."+last.last.id)
	return slices.DeleteFunc(subjects, func(s string) bool { return !pick.MatchString(s) }), err
}

var pick = regexp.MustCompile(`^UPSTREAM: ?[0-9]`)

// history is a branch's first-parent line, oldest first, without what the
// upstream has too: those commits were no fork's. It is empty for a branch that
// there isn't.
func (r *repo) history(ctx context.Context, branch string) ([]commit, error) {
	known, err := run(ctx, []string{r.fork}, "for-each-ref", "refs/heads/"+branch)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	lines, err := run(ctx, []string{r.fork}, "log", "--first-parent", "--reverse", "--format=%H%x09%cI%x09%s", "refs/heads/"+branch)
	if err != nil {
		return nil, err
	}
	var out []commit
	for _, line := range lines {
		f := strings.SplitN(line, "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("read the history of %s: %q", branch, line)
		}
		date, err := time.Parse(time.RFC3339, f[1])
		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", branch, err)
		}
		out = append(out, commit{id: f[0], date: date.UTC(), subject: f[2]})
	}
	return slices.DeleteFunc(out, func(c commit) bool { return r.theirs[c.id] }), nil
}

// file is the text of a file in a commit, "" where there is none.
func (r *repo) file(ctx context.Context, commit, path string) (string, error) {
	listed, err := r.git(ctx, "ls-tree", "--full-tree", "--name-only", commit, "--", path)
	if err != nil || len(listed) == 0 {
		return "", err
	}
	lines, err := r.git(ctx, "cat-file", "blob", commit+":"+path)
	return strings.Join(lines, "\n"), err
}

// gitDir finds the clone of owner/name below clones: a mirror, a bare clone or
// one with a work tree.
func gitDir(clones, name string) (string, error) {
	base := filepath.Join(clones, filepath.FromSlash(name))
	for _, dir := range []string{base, base + ".git", filepath.Join(base, ".git")} {
		if _, err := os.Stat(filepath.Join(dir, "objects")); err == nil {
			return filepath.Abs(dir)
		}
	}
	return "", fmt.Errorf("find a clone of %s in %s: git clone --mirror https://github.com/%s %s.git", name, clones, name, base)
}

// run runs git in a git directory, which sees the objects of others too.
func run(ctx context.Context, dirs []string, args ...string) ([]string, error) {
	cmd := proc.Command(ctx, "git", args...)
	cmd.Env = append(os.Environ(), "GIT_DIR="+dirs[0], "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	for _, other := range dirs[1:] {
		cmd.Env = append(cmd.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+filepath.Join(other, "objects"))
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s in %s: %s: %w", strings.Join(args, " "), dirs[0], strings.TrimSpace(complaint.String()), err)
	}
	text := strings.TrimRight(string(out), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// tree is a git tree, flat: path to blob id.
type tree map[string]string

// split parts the Go code of a program, in cmd and pkg, from what is around it. A fork's
// Dockerfiles and CI always differ from upstream's; its code only where
// somebody patched it. What is around tells releases with equal code apart, and
// a rebase from a backport. Tests are neither: they move with both.
func (t tree) split() (code, around tree) {
	code, around = tree{}, tree{}
	for path, blob := range t {
		root, _, _ := strings.Cut(path, "/")
		switch {
		case strings.HasSuffix(path, "_test.go"), root == "test", root == "tests":
		case (root == "cmd" || root == "pkg") && strings.HasSuffix(path, ".go"):
			code[path] = blob
		default:
			around[path] = blob
		}
	}
	return code, around
}

// differ lists the paths of files that aren't the same in t and o, or that
// only one of them has.
func (t tree) differ(o tree) []string {
	var out []string
	for path, blob := range t {
		if o[path] != blob {
			out = append(out, path)
		}
	}
	for path := range o {
		if _, ok := t[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func (t tree) key() string {
	lines := make([]string, 0, len(t))
	for path, blob := range t {
		lines = append(lines, path+" "+blob)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

type step struct {
	commit
	basis basis
}

// walker goes along branches. What it found for a commit holds for every
// branch that the commit is on, since all of them are first-parent lines.
type walker struct {
	repo  *repo
	meter *measurer
	seen  map[string]basis
}

func (w *walker) walk(ctx context.Context, branch string) ([]step, error) {
	commits, err := w.repo.history(ctx, branch)
	if err != nil {
		return nil, err
	}
	var steps []step
	var parent basis
	for _, c := range commits {
		b, ok := w.seen[c.id]
		if !ok {
			if b, err = w.judge(ctx, parent, c); err != nil {
				return nil, fmt.Errorf("judge %s of %s: %w", c.id, branch, err)
			}
			w.seen[c.id] = b
		}
		steps = append(steps, step{c, b})
		parent = b
	}
	return steps, nil
}

func (w *walker) judge(ctx context.Context, parent basis, c commit) (basis, error) {
	m, around, err := w.meter.measure(ctx, c.id)
	if err != nil {
		return basis{}, err
	}
	toParent := 0
	if parent.version != "" {
		toParent = len(around.differ(w.meter.tags[parent.match.tag].around))
	}
	return decide(parent, m, c, toParent), nil
}

// interval is a run of commits on one basis.
type interval struct {
	first, last step
	start       int // index of first
	// reverts: the basis is one that an interval before had, and the ancestry
	// still names what came in between.
	reverts bool
}

// intervals cuts steps where the basis changes.
func intervals(steps []step) []interval {
	var out []interval
	earlier := map[string]bool{}
	for i, s := range steps {
		if n := len(out); n > 0 && out[n-1].first.basis.version == s.basis.version {
			out[n-1].last = s
			continue
		}
		out = append(out, interval{first: s, last: s, start: i, reverts: earlier[s.basis.version] && s.basis.outlived()})
		earlier[s.basis.version] = true
	}
	return out
}
