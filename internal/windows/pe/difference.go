package pe

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"debug/pe"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
)

// Difference says in which way two programs of Go differ: what one says of its build
// that the other doesn't, else the first section, and the symbol there.
func Difference(one, other io.ReaderAt) string {
	a, errA := buildinfo.Read(one)
	b, errB := buildinfo.Read(other)
	if errA == nil && errB == nil {
		said, now := saidOf(a), saidOf(b)
		for _, key := range slices.Sorted(maps.Keys(said)) {
			if said[key] != now[key] {
				return fmt.Sprintf("%s: %s, and now %s", key, said[key], cmp.Or(now[key], "none"))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(now)) {
			if said[key] == "" {
				return fmt.Sprintf("%s: none, and now %s", key, now[key])
			}
		}
	}
	x, errX := pe.NewFile(one)
	y, errY := pe.NewFile(other)
	if errX != nil || errY != nil {
		return "one of them is no program for Windows"
	}
	for i, section := range x.Sections {
		before, _ := section.Data()
		if i >= len(y.Sections) || y.Sections[i].Name != section.Name {
			return "section " + section.Name + " is in one of them alone"
		}
		now, _ := y.Sections[i].Data()
		if bytes.Equal(before, now) {
			continue
		}
		at := 0
		for at < min(len(before), len(now)) && before[at] == now[at] {
			at++
		}
		return fmt.Sprintf("section %s at %#x%s", section.Name, at, symbolAt(x, i, uint32(at)))
	}
	return "outside of the sections: headers, signature or what is behind them"
}

// saidOf is what a program says of its build.
func saidOf(b *debug.BuildInfo) map[string]string {
	said := map[string]string{"toolchain": b.GoVersion, "module " + b.Main.Path: b.Main.Version + " " + b.Main.Sum}
	for _, m := range b.Deps {
		if m.Replace != nil {
			said["module "+m.Path] = m.Replace.Path + " "
			m = m.Replace
		}
		said["module "+m.Path] += m.Version + " " + m.Sum
	}
	for _, s := range b.Settings {
		said["setting "+s.Key] = s.Value
	}
	return said
}

// symbolAt is the symbol that holds a place in a section.
func symbolAt(f *pe.File, section int, at uint32) string {
	var found *pe.Symbol
	for _, s := range f.Symbols {
		if int(s.SectionNumber) == section+1 && s.Value <= at && (found == nil || s.Value >= found.Value) {
			found = s
		}
	}
	if found == nil {
		return ""
	}
	return ", in " + found.Name
}
