package payload_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// mapStore is the least that a flat payload needs: it keeps everything in
// memory, for one goroutine.
// Real stores keep blobs on disk and check them when they are read.
type mapStore struct{ blobs, records map[string][]byte }

func (s mapStore) Create() (payload.BlobWriter, error) { return &mapWriter{store: s}, nil }

func (s mapStore) Open(digest string) (io.ReadCloser, error) {
	b, ok := s.blobs[digest]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (s mapStore) Record(key string, v any) (err error) {
	s.records[key], err = json.Marshal(v)
	return err
}

func (s mapStore) Lookup(key string, v any) (bool, error) {
	b, ok := s.records[key]
	if !ok {
		return false, nil
	}
	return true, json.Unmarshal(b, v)
}

type mapWriter struct {
	bytes.Buffer
	store mapStore
}

func (w *mapWriter) Commit() (string, int64, error) {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(w.Bytes()))
	w.store.blobs[digest] = w.Bytes()
	return digest, int64(w.Len()), nil
}

func (w *mapWriter) Abort() error { return nil }

// fileAt makes a file of a payload from one on disk.
func fileAt(path, name string) (payload.File, error) {
	b, err := os.ReadFile(name)
	return payload.File{
		Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256(b)), Size: int64(len(b)),
		Open: func() (io.ReadCloser, error) { return os.Open(name) },
	}, err
}

// One file becomes an image in an OCI layout, and is checked there.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "payload-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "csi-proxy.exe")
	if err := os.WriteFile(name, []byte("MZ..."), 0o600); err != nil {
		log.Fatal(err)
	}
	file, err := fileAt("csi-proxy/csi-proxy.exe", name)
	if err != nil {
		log.Fatal(err)
	}

	tree := &payload.Tree{Format: payload.Flat, Files: []payload.File{file}}
	store := mapStore{map[string][]byte{}, map[string][]byte{}}
	layer, err := payload.NewLayer(ctx, tree, store, payload.LayerOptions{})
	if err != nil {
		log.Fatal(err)
	}
	image, err := payload.NewImage(layer, payload.ImageOptions{Version: "4.20"})
	if err != nil {
		log.Fatal(err)
	}
	place := filepath.Join(dir, "image")
	written, err := layout.Write(place, empty.Index)
	if err != nil {
		log.Fatal(err)
	}
	if err := written.AppendImage(image); err != nil {
		log.Fatal(err)
	}
	source, err := verify.Open(ctx, place, verify.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	problems, _, err := verify.Check(ctx, source, verify.Options{})
	if err != nil {
		log.Fatal(err)
	}
	diffID, err := layer.DiffID()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tar:  ", diffID)
	_, digest, _ := strings.Cut(source.Reference(), "@")
	fmt.Println("image:", digest)
	fmt.Println("wrong:", len(problems))
	// Output:
	// tar:   sha256:5df1ea84691b8fa18270ec125ef3f072b7764290aa5e6c717daed7baae481d13
	// image: sha256:4a374edf559a10ef575d87f210974fdeca3159fd019fc3147401f76eff6749b0
	// wrong: 0
}

// A tree that WMCO or Windows couldn't take is refused before any work.
func ExampleTree_Check() {
	open := func() (io.ReadCloser, error) { return nil, errors.New("not opened") }
	sum := fmt.Sprintf("%x", sha256.Sum256(nil))
	tree := &payload.Tree{Format: payload.Archived, Files: []payload.File{
		{Path: "kube-node/kubelet.exe", SHA256: sum, Open: open},
		{Path: "old/Kubelet.exe", SHA256: sum, Open: open},
	}}
	fmt.Println(tree.Check())
	// Output:
	// the files don't make a payload
	// "old/Kubelet.exe": same base name as "kube-node/kubelet.exe"
	// fix: give other paths
}
