package agent

import (
	"slices"
)

// change is one journal while it is carried out.
type change struct {
	sys   System
	dirs  Dirs
	times Times
	say   func(string)
	// step is called between any two things that are done to the node, for
	// tests to cut a change short there.
	step   func()
	j      *journal
	result *Result
}

func (c *change) note(s string) {
	if !slices.Contains(c.result.Notes, s) {
		c.result.Notes = append(c.result.Notes, s)
	}
}

func (c *change) did(s string) { c.result.Services = append(c.result.Services, s) }
