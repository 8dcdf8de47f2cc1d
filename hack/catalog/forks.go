package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/version"
)

//go:embed forks.yaml
var forksFile []byte

// forksData is forks.yaml, which says what the fields are.
type forksData struct {
	HeadsSince string `yaml:"headsSince"`
	Forks      []fork `yaml:"forks"`
}

// fork is an OpenShift fork of a driver and where its upstream is.
type fork struct {
	Name     string `yaml:"name"` // the catalog's
	Build    string `yaml:"build"`
	Fork     string `yaml:"fork"`     // owner/name on GitHub
	Upstream string `yaml:"upstream"` // the same
	Since    string `yaml:"since"`
	OLM      bool   `yaml:"olm"`
	Sidecar  bool   `yaml:"sidecar"`
	Version  text   `yaml:"version"`
}

// text is a file and the expression that finds a version in it.
type text struct {
	File string `yaml:"file"`
	Find string `yaml:"find"`
}

func readForks(data []byte) (forksData, error) {
	var d forksData
	if err := yaml.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("read forks.yaml: %w", err)
	}
	for _, f := range d.Forks {
		if _, err := regexp.Compile(f.Version.Find); err != nil {
			return d, fmt.Errorf("read forks.yaml: %s: %w", f.Name, err)
		}
	}
	return d, nil
}

// minors are the releases of the catalog's data, in its order: a new release is
// a row there.
func minors(data string) ([]string, error) {
	src, err := os.ReadFile(filepath.Join(data, "releases.yaml"))
	if err != nil {
		return nil, err
	}
	var file struct {
		Releases []struct {
			OpenShift string `yaml:"openshift"`
		} `yaml:"releases"`
	}
	if err := yaml.Unmarshal(src, &file); err != nil {
		return nil, fmt.Errorf("read releases.yaml: %w", err)
	}
	var out []string
	for _, r := range file.Releases {
		out = append(out, r.OpenShift)
	}
	return out, nil
}

func before(a, b string) bool { return compareMinors(a, b) < 0 }

func compareMinors(a, b string) int {
	x, _ := version.ParseOpenShift(a)
	y, _ := version.ParseOpenShift(b)
	return x.Compare(y)
}
