// Package node is the provisioner winbake-node: it makes a Windows machine what
// a payload image says, checks it with verify.exe, and writes down what it
// found.
package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/packer/plugin/internal/comm"
	"github.com/winbake/winbake/packer/plugin/internal/image"
)

// Provisioner is winbake-node.
type Provisioner struct{ config Config }

var _ packersdk.Provisioner = (*Provisioner)(nil)

// Provision is packersdk.Provisioner's.
func (p *Provisioner) Provision(ctx context.Context, ui packersdk.Ui, c packersdk.Communicator, data map[string]any) error {
	if p.config.Kind == kindImage {
		return p.checkImage(ctx, ui, comm.New(c, server(data)))
	}
	// One of an earlier build would be taken for this one's.
	if err := os.Remove(p.config.Manifest); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the manifest of an earlier build: %w", err)
	}
	im, err := image.Open(ctx, p.config.Options)
	if err != nil {
		return err
	}
	defer im.Close() //nolint:errcheck // only read
	exe, err := im.VerifyExe(p.config.VerifyBinary)
	if err != nil {
		return err
	}
	s := &step{config: &p.config, ui: ui, image: im, guest: comm.New(c, server(data))}
	s.node = &deploy.Node{Guest: s.guest, Exe: exe, Say: ui.Say}
	return s.run(ctx)
}

// server is Packer's HTTP server as the machine sees it, "" for none. Over SSH
// uploads are quicker than the machine's asking for them.
func server(data map[string]any) string {
	if kind, _ := data["ConnType"].(string); kind != "winrm" {
		return ""
	}
	addr, _ := data["PackerHTTPAddr"].(string)
	if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "0" {
		return "" // Packer has words instead of an address where there is none
	}
	return "http://" + addr
}

// step is one run of the provisioner.
type step struct {
	config *Config
	ui     packersdk.Ui
	image  *image.Image
	guest  *comm.Guest
	node   *deploy.Node
}

func (s *step) run(ctx context.Context) error {
	s.ui.Say(fmt.Sprintf("payload %s: %d files, %d services", s.image.Reference, len(s.image.Expectation.Files), len(s.image.Expectation.Services)))
	if !s.config.CheckOnly {
		if err := s.install(ctx); err != nil {
			return err
		}
	}
	facts, err := s.node.Facts(ctx, s.image.Expectation)
	if err != nil {
		return err
	}
	found := finding.Accept(node.Compare(s.image.Expectation, facts), s.config.Accept)
	if err := s.judge(found); err != nil {
		return err
	}
	if err := s.record(ctx, facts, found); err != nil {
		return err
	}
	return s.node.Clean(ctx)
}

// install uploads what the machine lacks and has it put into its place. In an
// image that is being made, what is there already is replaced.
func (s *step) install(ctx context.Context) error {
	out, err := s.node.Install(ctx, s.image.Image, deploy.Options{Stop: s.config.StopTimeout, Start: s.config.StartTimeout})
	if err != nil {
		return err
	}
	if !out.Changed {
		s.ui.Say("the machine has the payload already: nothing was changed")
		return nil
	}
	for _, n := range out.Notes {
		s.ui.Say("note: " + n)
	}
	text := fmt.Sprintf("%d files installed, %d replaced", out.Installed, out.Replaced)
	s.ui.Say(strings.Join(append([]string{text}, out.Services...), ", "))
	return nil
}

// judge shows the findings, and ends the build for those that nobody accepted.
func (s *step) judge(found []finding.Finding) error {
	var text bytes.Buffer
	err := report.Write(&text, "text", report.Report{Tool: "verify", Subject: s.image.Reference, Findings: found}, report.Options{})
	if err != nil {
		return err
	}
	for line := range strings.Lines(text.String()) {
		s.ui.Say(strings.TrimRight(line, "\n"))
	}
	return failure(found, "the machine isn't what the payload says", `fix what they name, or add an ID to accept = [...] if you know why it is so`)
}

// failure ends the build for findings that nobody accepted; nil for none.
func failure(found []finding.Finding, what, fix string) error {
	code := finding.DefaultFailOn.ExitCode(found)
	if code == finding.ExitOK {
		return nil
	}
	var ids []string
	for _, f := range found {
		if f.Severity >= finding.Unknown {
			ids = append(ids, fmt.Sprintf("%s %s %s: %s", f.Severity, f.ID, f.Object, f.Observed))
		}
	}
	return &fault.Error{What: fmt.Sprintf("%s: %d findings", what, len(ids)), Excerpt: strings.Join(ids, "\n"), Fix: fix, Code: code}
}
