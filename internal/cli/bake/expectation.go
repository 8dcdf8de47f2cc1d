package bake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"github.com/winbake/winbake/internal/compile"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/payload"
)

type extrasOptions struct {
	withVerify bool
}

// extras is what goes into /winbake: node.json where versions.yaml declares
// services, and verify.exe where it was asked for.
type extras struct {
	expectation *node.Expectation // nil for none
	verify      []payload.File
}

func (t *tool) extras(ctx context.Context, o payloadOptions, file *pins.File, jobs []*compile.Job, artifacts []*compile.Artifact) (*extras, error) {
	e, err := t.expectation(file, jobs, artifacts)
	if err != nil || !o.withVerify {
		return &extras{expectation: e}, err
	}
	data, err := t.readVerifyExe(ctx, o.buildOptions)
	if err != nil {
		return nil, err
	}
	return &extras{e, []payload.File{bytesFile(payload.VerifyName, data)}}, nil
}

// files are those of an image that keeps so much of its base.
func (x *extras) files(kept []payload.KeptFile) ([]payload.File, error) {
	if x.expectation == nil {
		return x.verify, nil
	}
	e := *x.expectation
	for _, k := range kept {
		e.Kept = append(e.Kept, node.KeptFile(k))
	}
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	return append([]payload.File{bytesFile(payload.ExpectationName, data)}, x.verify...), nil
}

func bytesFile(name string, data []byte) payload.File {
	sum := sha256.Sum256(data)
	return payload.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// expectation is what a node with this payload should be; nil when nothing is
// said of nodes.
func (t *tool) expectation(file *pins.File, jobs []*compile.Job, artifacts []*compile.Artifact) (*node.Expectation, error) {
	var built []wanted.Built
	for i, j := range jobs {
		built = append(built, wanted.Built{Component: j.Component, Stamps: j.Stamps, SHA256: strings.TrimPrefix(artifacts[i].Digest, "sha256:"), Size: artifacts[i].Size})
	}
	return wanted.Expectation(file, built, t.warn)
}
