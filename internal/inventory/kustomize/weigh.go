package kustomize

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/winbake/winbake/internal/infile"
)

// Bounds of the folders that one takes in. The library loads a folder each time
// that it is named, so folders that name others twice make a power of two, and
// it quotes an error at each level, which doubles its backslashes.
const (
	maxLevels = 16
	maxLoads  = 2000
)

type weight struct{ levels, loads int }

type scales struct {
	known map[string]weight
	open  map[string]bool
}

// weigh tells how deep folders are in folders, and how often they are loaded.
// One that can't be read weighs nothing: the library says what is wrong, as it
// does of a cycle.
func (s *scales) weigh(dir string) (weight, error) {
	dir, err := resolve(dir)
	if err != nil || s.open[dir] {
		return weight{}, nil // told by the library
	}
	if w, ok := s.known[dir]; ok {
		return w, nil
	}
	s.open[dir] = true
	defer delete(s.open, dir)
	w := weight{1, 1}
	for _, name := range taken(dir) {
		below, err := s.weigh(filepath.Join(dir, name))
		if err != nil {
			return w, err
		}
		w.levels, w.loads = max(w.levels, below.levels+1), w.loads+below.loads
		if w.levels > maxLevels || w.loads > maxLoads || len(s.open) > maxLevels {
			return w, fmt.Errorf("folders take in folders more than %d levels deep, or more than %d times in all", maxLevels, maxLoads)
		}
	}
	s.known[dir] = w
	return w, nil
}

func taken(dir string) []string {
	for _, name := range Names {
		src, err := infile.Read(filepath.Join(dir, name), infile.Text)
		if err != nil {
			continue
		}
		k, err := parse(src)
		if err != nil {
			return nil
		}
		return slices.DeleteFunc(slices.Concat(k.Resources, k.Components), func(name string) bool {
			info, err := os.Stat(filepath.Join(dir, name))
			return looksRemote(name) || err != nil || !info.IsDir()
		})
	}
	return nil
}
