package verify

import (
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/payload"
)

// maxSums bounds the sha256sum file, which is held in memory: 8,000 lines.
const maxSums = 1 << 20

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
