package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"regexp"
	"slices"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/packer/plugin/internal/record"
)

// record writes the manifest onto the machine, and what the machine then has
// beside the build.
func (s *step) record(ctx context.Context, facts *node.Facts, found []finding.Finding) error {
	content := record.Content{
		Payload: s.image.Digest, Release: s.image.Release, Profile: s.config.Profile, OS: s.windows(ctx, facts),
		Files: files(s.image.Expectation, facts), Services: services(s.image.Expectation, facts), Verify: sum(s.node.Exe),
		Findings: slices.DeleteFunc(slices.Clone(found), func(f finding.Finding) bool { return f.Severity == finding.Pass }),
	}
	m, err := record.New(content, record.Build{
		Run: os.Getenv("PACKER_RUN_UUID"), Name: s.config.PackerBuildName, Type: s.config.PackerBuilderType, Payload: s.image.Reference,
	})
	if err != nil {
		return err
	}
	data, err := m.Encode()
	if err != nil {
		return err
	}
	if err := s.guest.Put(ctx, record.GuestPath, bytes.NewReader(data)); err != nil {
		return err
	}
	var back bytes.Buffer
	if err := s.guest.Get(ctx, record.GuestPath, &back); err != nil {
		return err
	}
	if !bytes.Equal(back.Bytes(), data) {
		return &fault.Error{Where: record.GuestPath, What: "the manifest on the machine isn't the one that was written there", Fix: "see what else writes into that folder, then build again"}
	}
	s.ui.Say("manifest " + m.Digest + " in " + s.config.Manifest)
	return record.Write(s.config.Manifest, back.Bytes())
}

// build is a Windows version with its patch level, which cmd.exe tells and the
// system's own call doesn't.
var build = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+`)

func (s *step) windows(ctx context.Context, facts *node.Facts) string {
	var out bytes.Buffer
	if code, err := s.guest.Run(ctx, "cmd /c ver", &out, nil); err == nil && code == 0 {
		if v := build.FindString(out.String()); v != "" {
			return v
		}
	}
	return facts.OS
}

// files are those of the payload with the sums that the machine told. The
// check has held them to the payload's; one that was accepted shows what is
// there.
func files(e *node.Expectation, facts *node.Facts) []node.File {
	out := []node.File{}
	for _, f := range e.Files {
		f.SHA256, f.Size = "", 0
		for _, g := range facts.Files {
			if sum, ok := g.SHA256.Get(); ok && node.SamePath(g.Path, f.Path) {
				f.SHA256, f.Size = sum, g.Size
			}
		}
		out = append(out, f)
	}
	return out
}

func services(e *node.Expectation, facts *node.Facts) []record.Service {
	out := []record.Service{}
	for _, s := range e.Services {
		r := record.Service{Name: s.Name, Pipes: s.Pipes}
		for _, g := range facts.Services {
			if g.Name == s.Name {
				r.Command, r.Start, r.Account, r.State = told(g.Command), told(g.Start), told(g.Account), told(g.State)
			}
		}
		out = append(out, r)
	}
	return out
}

// told is nil for what the machine didn't tell.
func told[T any](t node.Told[T]) *T {
	if v, ok := t.Get(); ok {
		return &v
	}
	return nil
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
