package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

const (
	keyServices    = "services"
	keyFiles       = "files"
	keyEnvironment = "environmentVars"
	keyWatched     = "watchedEnvironmentVars"
)

// ParseData reads a services ConfigMap's values as WMCO does, and more strictly:
// it refuses what WMCO refuses (pkg/servicescm/servicescm.go), and what WMCO
// lets pass and then goes wrong on the node: unknown keys, services without a
// name or a command, files without a sum.
func ParseData(data map[string]string) (*ConfigMap, error) {
	if len(data) < 2 || len(data) > 4 {
		return nil, fmt.Errorf("%d keys; WMCO takes services and files, and perhaps environmentVars and watchedEnvironmentVars", len(data))
	}
	c := &ConfigMap{}
	for _, key := range []struct {
		name     string
		into     any
		required bool
	}{{keyServices, &c.Services, true}, {keyFiles, &c.Files, true}, {keyEnvironment, &c.Environment, false}, {keyWatched, &c.Watched, false}} {
		text, has := data[key.name]
		if !has && key.required {
			return nil, fmt.Errorf("key %s is missing", key.name)
		}
		if !has {
			continue
		}
		if err := strictJSON(text, key.into); err != nil {
			return nil, fmt.Errorf("%s: %w", key.name, err)
		}
	}
	for key := range data {
		if !slices.Contains([]string{keyServices, keyFiles, keyEnvironment, keyWatched}, key) {
			return nil, fmt.Errorf("unknown key %q", key)
		}
	}
	if err := c.complete(); err != nil {
		return nil, err
	}
	return c, errors.Join(wmcoDependencies(c.Services), wmcoPriorities(c.Services))
}

func strictJSON(text string, into any) error {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}

var sumForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// complete refuses what WMCO's JSON reader lets pass.
func (c *ConfigMap) complete() error {
	if c.Services == nil || c.Files == nil {
		return errors.New("services and files must be lists, not null")
	}
	names := map[string]bool{}
	for i, s := range c.Services {
		switch {
		case s.Name == "" || s.Command == "":
			return fmt.Errorf("service %d has no name or no command (its key is path)", i)
		case names[s.Name]:
			return fmt.Errorf("service %s stands there twice", s.Name)
		}
		names[s.Name] = true
		for _, a := range s.NodeArgs {
			if a.Name == "" || a.Path == "" {
				return fmt.Errorf("service %s has a node variable without a name or a path", s.Name)
			}
		}
		for _, p := range s.PreScripts {
			if p.Command == "" {
				return fmt.Errorf("service %s has a script without a command (its key is path)", s.Name)
			}
		}
	}
	for i, f := range c.Files {
		if f.Path == "" || !sumForm.MatchString(f.Checksum) {
			return fmt.Errorf("file %d has no path or no sha256", i)
		}
	}
	return nil
}

// wmcoDependencies refuses what WMCO's validateDependencies refuses.
func wmcoDependencies(services []ServiceEntry) error {
	bootstrap := map[string]bool{}
	for _, s := range services {
		bootstrap[s.Name] = s.Bootstrap
	}
	for _, s := range services {
		if s.Bootstrap && len(s.NodeArgs) > 0 {
			return fmt.Errorf("bootstrap service %s cannot require node variables in command", s.Name)
		}
		for _, d := range s.Dependencies {
			if later, here := bootstrap[d]; s.Bootstrap && here && !later {
				return fmt.Errorf("bootstrap service %s cannot depend on non-bootstrap service", s.Name)
			}
		}
	}
	return wmcoCycles(services)
}

// wmcoCycles finds cycles, and takes some for cycles that are none, as WMCO
// does: it leaves a service "being visited" for good once it had to go into a
// dependency that wasn't visited yet, and calls everything that later depends
// on it a cycle. Services that stand behind their dependencies are never taken
// for one, and that is the order that is written here.
func wmcoCycles(services []ServiceEntry) error {
	byName := map[string]ServiceEntry{}
	for _, s := range services {
		byName[s.Name] = s
	}
	visiting := map[string]bool{} // absent: not seen; false: done
	var leadsBack func(s ServiceEntry) bool
	leadsBack = func(s ServiceEntry) bool {
		visiting[s.Name] = true
		for _, d := range s.Dependencies {
			if open, seen := visiting[d]; seen && open {
				return true
			} else if next, here := byName[d]; !seen && here {
				return leadsBack(next)
			}
		}
		visiting[s.Name] = false
		return false
	}
	for _, s := range services {
		if _, seen := visiting[s.Name]; !seen && leadsBack(s) {
			return fmt.Errorf("invalid cyclical chain in %s service's dependencies", s.Name)
		}
	}
	// WMCO goes into one dependency only, and misses cycles by others.
	for _, s := range services {
		if winsvc.Cycle(s.Name, func(name string) []string { return byName[name].Dependencies }) != nil {
			return fmt.Errorf("service %s depends on itself", s.Name)
		}
	}
	return nil
}

// wmcoPriorities refuses what WMCO's validatePriorities refuses.
func wmcoPriorities(services []ServiceEntry) error {
	for _, s := range services {
		if !s.Bootstrap {
			continue
		}
		for _, other := range services {
			switch {
			case other.Bootstrap:
			case other.Priority < s.Priority:
				return fmt.Errorf("bootstrap service %s priority must be higher than all controller services", s.Name)
			case other.Priority == s.Priority:
				return fmt.Errorf("controller service %s priority must not overlap with any bootstrap service", other.Name)
			}
		}
	}
	return nil
}
