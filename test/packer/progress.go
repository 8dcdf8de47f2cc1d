package packer

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

// every is how often a build says that it lives.
const every = 30 * time.Second

// progress takes what go build -v prints, a line for each package that it compiles,
// and says now and then how far it is.
type progress struct {
	name         string
	began, spoke time.Time
	packages     int
	text         bytes.Buffer
}

// Write is io.Writer's.
func (p *progress) Write(text []byte) (int, error) {
	p.packages += bytes.Count(text, []byte("\n"))
	if now := time.Now(); now.Sub(p.began) > every && now.Sub(p.spoke) > every {
		p.spoke = now
		fmt.Fprintf(os.Stderr, "building %s: %d packages compiled in %s\n", p.name, p.packages, now.Sub(p.began).Round(time.Second))
	}
	return p.text.Write(text)
}
