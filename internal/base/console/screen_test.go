package console

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// screen is as much of a terminal as the console needs: it wraps, scrolls,
// moves up and erases. Anything else it's sent is an error.
type screen struct {
	t             *testing.T
	mu            sync.Mutex
	columns, rows int
	lines         [][]rune // all that was ever shown; the last rows are visible
	x, y          int
	writes        int
}

func newScreen(t *testing.T, columns, rows int) *screen {
	return &screen{t: t, columns: columns, rows: rows, lines: [][]rune{nil}}
}

func (s *screen) size() (int, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.columns, s.rows
}

var sequence = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	for rest := string(p); rest != ""; {
		if m := sequence.FindStringSubmatch(rest[:min(len(rest), 8)]); m != nil {
			s.control(m[1], m[2])
			rest = rest[len(m[0]):]
			continue
		}
		r, n := utf8.DecodeRuneInString(rest)
		s.put(r)
		rest = rest[n:]
	}
	return len(p), nil
}

func (s *screen) control(n, what string) {
	count, _ := strconv.Atoi(n)
	switch what {
	case "A":
		s.y = max(s.y-max(count, 1), len(s.lines)-s.rows, 0)
	case "J":
		s.lines = s.lines[:s.y+1]
		s.lines[s.y] = s.lines[s.y][:min(s.x, len(s.lines[s.y]))]
	default:
		s.t.Errorf("the screen doesn't know ESC [ %s %s", n, what)
	}
}

func (s *screen) put(r rune) {
	switch {
	case r == '\r':
		s.x = 0
	case r == '\n':
		s.x, s.y = 0, s.y+1
	case r < ' ':
		s.t.Errorf("the screen doesn't know %q", r)
	default:
		if s.x == s.columns {
			s.x, s.y = 0, s.y+1
		}
		s.grow()
		line := s.lines[s.y]
		for len(line) <= s.x {
			line = append(line, ' ')
		}
		line[s.x] = r
		s.lines[s.y] = line
		s.x++
	}
	s.grow()
}

func (s *screen) grow() {
	for len(s.lines) <= s.y {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

// resize makes the terminal narrower: long lines take several rows then.
func (s *screen) resize(columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines [][]rune
	for _, l := range s.lines {
		if chunks := slices.Collect(slices.Chunk(l, columns)); len(chunks) > 0 {
			lines = append(lines, chunks...)
		} else {
			lines = append(lines, nil)
		}
	}
	s.lines, s.columns, s.y = lines, columns, len(lines)-1
}

// String returns everything, with what has scrolled away, and | at the line's
// end so that blanks show.
func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.lines {
		fmt.Fprintf(&b, "%s|\n", string(l))
	}
	return b.String()
}
