package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// input is one file of the payload, as bake keeps it.
type input struct {
	Component, Payload, Digest string
	Path                       string // where it lies
	Store                      string // the cache that holds it
	Size                       int64  // in bytes
}

// SHA256 is the digest as a payload's file has it.
func (in input) SHA256() string { return strings.TrimPrefix(in.Digest, "sha256:") }

// errNotBuilt is what a bench of nothing says: it measures no compiler.
var errNotBuilt = errors.New("the payload isn't built\nfix: make payload")

// load asks bake where the built files are.
func (b *bench) load(ctx context.Context) error {
	if _, err := os.Stat("bin/bake"); err != nil {
		return errNotBuilt
	}
	payloads := map[string]string{}
	var listed []struct{ Component, Payload, State string }
	if err := ask(ctx, &listed, "list"); err != nil {
		return err
	}
	for _, l := range listed {
		if l.State != "cached" {
			return fmt.Errorf("%s: %w", l.Component, errNotBuilt)
		}
		payloads[l.Component] = l.Payload
	}
	cache, err := output(ctx, "bin/bake", "cache", "path")
	if err != nil {
		return err
	}
	b.cache = strings.TrimSpace(string(cache))
	if err := ask(ctx, &b.inputs, "build", "-q"); err != nil {
		return err
	}
	for i := range b.inputs {
		in := &b.inputs[i]
		in.Payload, in.Store = payloads[in.Component], b.cache
	}
	b.table.head = header(b.inputs)
	return b.writeList()
}

// ask decodes the items that a command of bake prints.
func ask(ctx context.Context, v any, args ...string) error {
	out, err := output(ctx, "bin/bake", append(args, "-o", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, &struct{ Items any }{v})
}

// list is the file that tells child processes of the inputs.
func (b *bench) list() string { return filepath.Join(b.dir, "inputs.json") }

func (b *bench) writeList() error {
	data, err := json.Marshal(b.inputs)
	if err != nil {
		return err
	}
	return os.WriteFile(b.list(), data, 0o644)
}

func readList(path string) ([]input, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var inputs []input
	return inputs, json.Unmarshal(data, &inputs)
}
