package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
)

// payloadReader gathers what one image's payload holds while it is walked.
type payloadReader struct {
	checker   *checker
	problems  []Problem
	files     []File
	paths     []string
	sums      []byte // nil when there is no sha256sum file
	extras    Extras // of /winbake
	root      bool   // whether /payload is there
	generated *fs.FileMode
	buf       []byte
	hash      hash.Hash
}

const (
	sumsPath      = payload.Root + "/" + payload.SumsName
	generatedPath = payload.Root + "/" + payload.GeneratedName
)

func newPayloadReader(c *checker) *payloadReader {
	return &payloadReader{checker: c, buf: make([]byte, 256<<10), hash: sha256.New()}
}

func (r *payloadReader) visit(e *rootfs.Entry) (err error) {
	if !e.Mode.IsDir() {
		r.paths = append(r.paths, e.Path)
	}
	if e.Path == payload.ExtrasRoot || strings.HasPrefix(e.Path, payload.ExtrasRoot+"/") {
		return r.visitExtras(e)
	}
	r.root = true
	r.mode(e)
	switch {
	case e.Mode.IsDir():
		if e.Path == generatedPath {
			r.generated = &e.Mode
		}
		return nil
	case strings.HasPrefix(e.Path, generatedPath+"/"):
		r.Add(problem(IDGenerated, e.Path, "a file", "an empty folder"))
		return nil
	case e.Path == sumsPath:
		r.sums, err = readWhole(e)
		return err
	}
	return r.readFile(e)
}

func (r *payloadReader) Add(p Problem) { r.problems = append(r.problems, p) }

// readFile hashes a file, in its archive where it has one, and shows it to
// the check of executables.
func (r *payloadReader) readFile(e *rootfs.Entry) error {
	f := File{
		Path:     strings.TrimSuffix(strings.TrimPrefix(e.Path, payload.Root+"/"), payload.ArchiveSuffix),
		Archived: e.Archived(), Link: e.Link,
	}
	err := r.readContent(e, &f)
	if malformed, ok := errors.AsType[*rootfs.ArchiveError](err); ok {
		r.Add(problem(IDArchiveMalformed, e.Path, malformed.What, "a gzipped tar of that one file under its bare name"))
		err = nil
	}
	r.files = append(r.files, f)
	return err
}

func (r *payloadReader) readContent(e *rootfs.Entry, f *File) error {
	content, size := e.Content, e.Size
	if f.Archived {
		var err error
		if content, size, err = e.Member(); err != nil {
			return err
		}
	}
	r.hash.Reset()
	var w io.Writer = r.hash
	check := r.checker.opts.Executable
	var program *bytes.Buffer // nil for one that isn't shown
	if check != nil && r.isProgram(f.Path) {
		var err error
		if program, err = r.checker.room(e.Path, size); err != nil {
			return err
		}
		w = io.MultiWriter(w, program)
	}
	// No reader or writer takes the copy over, with a buffer for each file.
	n, err := io.CopyBuffer(w, struct{ io.Reader }{content}, r.buf)
	if err != nil {
		return err
	}
	f.SHA256, f.Size = hex.EncodeToString(r.hash.Sum(nil)), n
	if program != nil {
		check(f.Path, bytes.NewReader(program.Bytes()), n)
	}
	return nil
}

func (r *payloadReader) isProgram(p string) bool {
	return strings.EqualFold(path.Ext(p), ".exe") || slices.Contains(r.checker.opts.Programs, p)
}

func (r *payloadReader) mode(e *rootfs.Entry) {
	perm := e.Mode.Perm()
	switch {
	case e.Path == generatedPath:
	case e.Mode.IsDir() && perm&0o005 != 0o005:
		r.Add(problem(IDMode, e.Path, octal(perm), "a folder that all may enter and list: 0755"))
	case !e.Mode.IsDir() && perm&0o004 == 0:
		r.Add(problem(IDMode, e.Path, octal(perm), "a file that all may read: 0644"))
	case perm&0o002 != 0:
		p := problem(IDMode, e.Path, octal(perm), "nothing but "+payload.GeneratedName+"/ that all may write")
		p.Severity = SeverityWarn
		r.Add(p)
	}
}

func octal(m fs.FileMode) string { return fmt.Sprintf("mode %04o", m.Perm()) }

// sumList is the content of a sha256sum file as the operator reads it.
type sumList struct {
	byName map[string]string // base name -> lower-case hex
	names  []string          // base names in the file's order
}

// parseSums reads a sha256sum file the way parseShaFile of the operator's
// pkg/nodeconfig/payload does: a line is split at two spaces into exactly two
// parts, the second counts by its base name alone, and must be unique. Stock
// images name the absolute paths of their build host there.
func parseSums(object string, content []byte) (sumList, []Problem) {
	s := sumList{byName: map[string]string{}}
	var ps []Problem
	text := strings.TrimSuffix(string(content), "\n")
	if text == "" {
		return s, []Problem{problem(IDSumMalformed, object, "an empty file", sumLine)}
	}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		line = strings.TrimSuffix(line, "\r") // as bufio.ScanLines does
		sum, name, wrong := sumOfLine(line)
		if wrong != "" {
			ps = append(ps, problem(IDSumMalformed, object, fmt.Sprintf("line %d: %s: %s", n, wrong, printable.Quote(line)), sumLine))
			continue
		}
		if _, ok := s.byName[name]; ok {
			ps = append(ps, problem(IDSumDuplicate, object, fmt.Sprintf("line %d: a second line for %s", n, name), "one line a base name"))
			continue
		}
		s.byName[name] = sum
		s.names = append(s.names, name)
	}
	return s, ps
}

const sumLine = "64 lower-case hex digits, two spaces, a name"

func sumOfLine(line string) (sum, name, wrong string) {
	parts := strings.Split(line, "  ")
	if len(parts) != 2 {
		return "", "", "not two parts with two spaces between"
	}
	raw, err := hex.DecodeString(parts[0])
	if err != nil || len(raw) != 32 || strings.ToLower(parts[0]) != parts[0] {
		return "", "", "not a sha256 sum"
	}
	name = parts[1][strings.LastIndex(parts[1], "/")+1:]
	if name == "" {
		return "", "", "no file name"
	}
	return parts[0], name, ""
}

// compare checks the sums against the files, in both directions. Files with
// an empty sum couldn't be read and have their own problem.
func (s sumList) compare(object string, files []File) []Problem {
	var ps []Problem
	has := map[string]bool{}
	for _, f := range files {
		name := path.Base(f.Path)
		has[name] = true
		want, ok := s.byName[name]
		switch {
		case !ok:
			ps = append(ps, problem(IDSumUnlisted, f.stored(), "no line for "+name+" in "+payload.SumsName, "one line"))
		case f.SHA256 != "" && f.SHA256 != want:
			ps = append(ps, problem(IDSumMismatch, f.stored(), "sha256 "+f.SHA256, want+" as "+payload.SumsName+" says"))
		}
	}
	for _, n := range s.names {
		if !has[n] {
			ps = append(ps, problem(IDSumAbsent, object, "a line for "+n+", which isn't in the payload", "the file"))
		}
	}
	return ps
}
