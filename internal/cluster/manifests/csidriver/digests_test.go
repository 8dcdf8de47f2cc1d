package csidriver_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

const one = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

func TestParseDigestsRefuses(t *testing.T) {
	two := strings.ReplaceAll(one, "1", "2")
	for text, want := range map[string]string{
		"":                                  "there is no digest",
		"# only this\n":                     "there is no digest",
		"a/b:v1":                            "d.txt:1: the line isn't an image",
		"a/b " + one:                        "the line isn't an image",
		"\na/b:v1 sha256:12":                "d.txt:2: the line isn't an image",
		"a/b:v1 " + one + " more":           "the line isn't an image",
		"https://a/b:v1 " + one:             "the line isn't an image",
		"a/b:v1 " + one + "\na/b:v1 " + two: "d.txt:2: a/b:v1 has two digests",
		strings.Repeat("\xff", 1000):        "the line isn't an image",
	} {
		_, err := csidriver.ParseDigests("d.txt", []byte(text))
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Fix == "" || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := csidriver.ParseDigests("d.txt", []byte("a/b:v1 "+one+"\r\n  a/b:v1@"+one+"\n")); err != nil {
		t.Errorf("the same twice, with Windows' line ends: %v", err)
	}
}

func FuzzParseDigests(f *testing.F) {
	f.Add([]byte("registry.k8s.io/csi-vsphere/driver:v3.5.0 " + one + "\n# x\n"))
	f.Add([]byte("a:5000/b/c:v1@" + one))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := csidriver.ParseDigests("d.txt", text)
		if _, ok := errors.AsType[*fault.Error](err); (d == nil) == (err == nil) || err != nil && !ok {
			t.Errorf("%v, %v", d, err)
		}
	})
}

// TestDigestsOfTheSource: a digest is the same at a mirror, so that a list of
// the projects' images serves for it.
func TestDigestsOfTheSource(t *testing.T) {
	cat := load(t)
	d, err := csidriver.ParseDigests("d.txt", []byte("registry.k8s.io/csi-vsphere/driver:v3.5.0 "+one+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = csidriver.Render(cat, csidriver.Options{Driver: "vsphere", For: release(t, "4.20"), Registry: "m.example.com", Digests: d})
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || strings.Contains(f.What, "vsphere") || strings.Count(f.Fix, "skopeo inspect") != 2 {
		t.Errorf("the two that are missing aren't named, once each: %v", err)
	}
}
