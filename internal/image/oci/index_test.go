package oci

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/random"
)

// idle are the parts of the two files that WriteLayout writes in which a changed
// byte changes nothing that a reader takes the image by, each with its reason.
// The first place of each text is meant. Space between JSON's tokens would be
// such a part too: WriteLayout writes none.
var idle = map[string]map[string]string{
	layoutFile: {},
	indexFile: {
		`"mediaType"`: "the file's name says its type as well: without this key it is the same index, and readers pass over a key that they don't know",
		`"annotations":{"org.opencontainers.image.ref.name":"latest"}`: "a tag is what its writer calls the image, and nothing else says it",
	},
}

// TestEveryByteOfALayout changes each byte of the two files of a layout that no
// digest covers to each other byte.
func TestEveryByteOfALayout(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "image")
	img, err := random.Image(1024, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteLayout(t.Context(), dir, img, nil); err != nil {
		t.Fatal(err)
	}
	whole := map[string][]byte{}
	for name := range idle {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		whole[name] = raw
	}
	if !opens(t, dir, whole[layoutFile], whole[indexFile]) {
		t.Fatal("it isn't opened as it was written")
	}
	for name, spans := range idle {
		used := map[string]bool{}
		for i, was := range whole[name] {
			var passed []byte
			for b := range 256 {
				changed := bytes.Clone(whole[name])
				changed[i] = byte(b)
				files := map[string][]byte{layoutFile: whole[layoutFile], indexFile: whole[indexFile], name: changed}
				if byte(b) != was && opens(t, dir, files[layoutFile], files[indexFile]) {
					passed = append(passed, byte(b))
				}
			}
			if len(passed) == 0 {
				continue
			}
			if in := spanOf(whole[name], spans, i); in == "" {
				t.Errorf("%s: byte %d of %s may be any of %q", name, i, whole[name], passed)
			} else {
				used[in] = true
			}
		}
		for text := range spans {
			if !used[text] {
				t.Errorf("%s: no byte of %s may change: take it out of the list", name, text)
			}
		}
	}
}

// opens tells whether a layout with these files is opened and its image found.
func opens(t *testing.T, dir string, mark, index []byte) bool {
	t.Helper()
	s, err := sourceOfLayout(inFolder(dir), KindLayout, mark, index)
	if err != nil {
		return false
	}
	_, err = s.Images()
	return err == nil
}

// spanOf returns the one of the spans in which a byte is.
func spanOf(raw []byte, spans map[string]string, i int) string {
	for text := range spans {
		if at := strings.Index(string(raw), text); at >= 0 && i >= at && i < at+len(text) {
			return text
		}
	}
	return ""
}
