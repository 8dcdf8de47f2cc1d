//go:build e2e

package readers

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// reader is a tool, and how it shows what a container of an image would see.
type reader struct {
	name string
	read func(*testing.T, image) (listing, error)
	// noZstd is what the tool says of a layer with zstd, if it reads none.
	noZstd string
}

// readers are Debian's, two of go-containerregistry, and ours.
var readers = []reader{
	{name: "podman", read: podman},
	{name: "buildah", read: buildah},
	{name: "skopeo", read: skopeo},
	{name: "skopeo, docker-archive", read: dockerArchive, noZstd: "zstd compression is not supported for docker images"},
	{name: "umoci", read: umoci, noZstd: "blob is not correct mediatype"},
	{name: "docker load", read: dockerLoad, noZstd: "unexpected EOF"},
	{name: "docker pull", read: dockerPull, noZstd: "unexpected EOF"},
	{name: "docker-registry", read: dockerRegistry},
	{name: "crane", read: crane("../../..")},
	{name: "crane v0.20.6", read: crane("oldcrane")},
	{name: "winbake", read: winbake},
}

// TestReaders bakes onto operator images of both formats, with everything that
// a layer can say of those below it: files brought, replaced, kept, removed.
func TestReaders(t *testing.T) {
	for _, format := range []string{"flat", "archived"} {
		base := operator(t, format)
		for _, c := range []struct {
			name  string
			flags []string
			want  []string
		}{
			{"kept", nil, append([]string{both, own}, ofBase...)},
			{"removed", []string{"--replace-payload", "--accept", "payload.operator.file"}, append([]string{both, own}, foldersOfBase...)},
		} {
			img := bake(t, base, format, c.flags...)
			want := expected(format, c.want)
			for _, r := range readers {
				t.Run(strings.Join([]string{format, c.name, r.name}, "/"), func(t *testing.T) {
					t.Parallel() // they wait more than they compute
					sees(t, r, img, want)
				})
			}
		}
	}
}

// sees wants a reader to list the names that are expected, and the sums that we
// read.
func sees(t *testing.T, r reader, img image, want []string) {
	t.Helper()
	got, err := r.read(t, img)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.names(), want) {
		t.Fatalf("it sees\n%s\n\nwant\n%s", strings.Join(got.names(), "\n"), strings.Join(want, "\n"))
	}
	ours, err := winbake(t, img)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, ours) {
		t.Errorf("it sees\n%v\nwe see\n%v", got, ours)
	}
}

// TestReadersOfZstd holds what docs/payload.md says of zstd to the tools.
func TestReadersOfZstd(t *testing.T) {
	img := bake(t, operator(t, "flat"), "flat", "--compression", "zstd")
	want := expected("flat", append([]string{both, own}, ofBase...))
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			if r.noZstd == "" {
				sees(t, r, img, want)
			} else if _, err := r.read(t, img); err == nil || !strings.Contains(err.Error(), r.noZstd) {
				t.Errorf("it says %v, want %s", err, r.noZstd)
			}
		})
	}
}

// expected lists the whole image: the payload's files, which are given, and the
// rest, with the folders above each.
func expected(format string, files []string) []string {
	all := []string{
		"usr/bin/windows-machine-config-operator", "usr/share/doc/kept", "winbake/node.json", "payload/generated/",
	}
	for _, f := range files {
		if format == "archived" && !strings.HasSuffix(f, "/") {
			f += ".tar.gz"
		}
		all = append(all, "payload/"+f)
	}
	if format == "archived" {
		all = append(all, "payload/sha256sum")
	}
	for _, f := range slices.Clone(all) {
		for i, c := range f {
			if c == '/' {
				all = append(all, f[:i+1])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
