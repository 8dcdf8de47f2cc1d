package program

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"

	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/source"
	"github.com/winbake/winbake/internal/source/gomod"
)

// noLicense is SPDX's word for "nothing was found that says"
// (https://spdx.github.io/spdx-spec/v2.3/package-information/).
const noLicense = "NOASSERTION"

// lockedModules notes each linked module with its sum and licences.
func lockedModules(w *source.Workspace, linked *gomod.Linked) ([]pins.LockedModule, error) {
	sums := gomod.ParseSums(w.GoSum)
	var modules []pins.LockedModule
	for _, m := range linked.Modules {
		used := m.Used()
		lm := pins.LockedModule{Path: m.Path, Version: m.Version}
		if m.Replace != nil {
			lm.Replace = &pins.ModuleVersion{Path: m.Replace.Path, Version: m.Replace.Version}
		}
		if !w.Vendored() && !m.Local() {
			if lm.Sum = sums.Of(used.Path, used.Version); lm.Sum == "" {
				return nil, fmt.Errorf("go.sum has no sum for %s %s", used.Path, used.Version)
			}
		}
		dir := used.Dir
		if dir == "" {
			dir = m.Dir
		}
		if dir == "" || w.Vendored() {
			dir = filepath.Join(w.Dir, "vendor", filepath.FromSlash(m.Path))
		}
		lm.Licenses = licenses(dir)
		modules = append(modules, lm)
	}
	return modules, nil
}

// licenses returns the SPDX identifiers of the licence texts at the top of a
// module, sorted. It reads texts, not claims: a README that names a licence
// counts for nothing.
func licenses(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{noLicense}
	}
	found := map[string]bool{}
	for _, e := range entries {
		if !e.Type().IsRegular() || !isLicenseName(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		for _, m := range licensecheck.Scan(text).Match {
			found[m.ID] = true
		}
	}
	if len(found) == 0 {
		return []string{noLicense}
	}
	return slices.Sorted(maps.Keys(found))
}

func isLicenseName(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE", "MIT-LICENSE"}, func(p string) bool {
		return strings.HasPrefix(upper, p)
	})
}
