package catalog

import (
	"slices"
	"strings"
	"testing"
)

// What programs did when they ran is what was read of their sources: the pipe that
// one tries last is the oldest version of its group in the line, and a program that
// answers in a mode has it.
func TestExecutedAgreesWithRead(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, b := range c.Builds {
		for _, e := range b.Executed {
			seen++
			line := c.Driver(b.Name).Line(parseDriver(e.Version))
			if line == nil {
				t.Errorf("%s v%s ran, and no line holds it", b.Name, e.Version)
				continue
			}
			if e.Mode == "hostprocess" && !line.CanHostProcess() || e.Mode == "pipes" && line.HostProcessOnly() {
				t.Errorf("%s v%s ran as %s, which its line hasn't got", b.Name, e.Version, e.Mode)
			}
			group, api, _ := strings.Cut(e.Pipe, "-")
			if e.Pipe != "" && !slices.ContainsFunc(line.API, func(u APIUse) bool { return u.Group == group && u.Versions[len(u.Versions)-1] == api }) {
				t.Errorf("%s v%s ended at %s, its line has %v", b.Name, e.Version, e.Pipe, line.API)
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d runs are noted", seen)
	}
}
