package verify

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/build/sbom"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/catalogflag"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/pe"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

type payloadOptions struct {
	file     string
	only     []string
	format   string
	platform string
	release  string
	digest   string
	proof    proofOptions
	registry app.Registry
	catalog  catalogflag.Flag
}

func newPayload(t *tool) *cobra.Command {
	var o payloadOptions
	cmd := &cobra.Command{
		Use:  "payload REF|LAYOUT|TARBALL|DIR",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := t.payload(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			return t.finish(r)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "versions.yaml to compare with")
	f.StringSliceVar(&o.only, "only", nil, "with -f, expect these components alone")
	f.StringVar(&o.release, "release", "", "OpenShift release whose operator reads the payload (default that of versions.yaml, else the image's labels)")
	f.StringVar(&o.format, "format", "", "format that is expected: archived or flat (default by the release)")
	f.StringVar(&o.platform, "platform", "", "of an index, check this platform alone, such as linux/amd64")
	f.StringVar(&o.digest, "digest", "", "digest that the image must have, or the reference by digest that bake payload printed")
	f.StringSliceVar(&o.proof.require, "require", nil, "what must be there and be right: sbom, signature, provenance")
	f.StringVar(&o.proof.keyFile, "key", "", "public key, as PEM, that signed the image; means --require signature")
	o.registry.Register(f, "the registry")
	o.catalog.Register(cmd)
	app.Complete(cmd, "release", o.catalog.Releases)
	app.Choices(cmd, "format", string(payload.Archived), string(payload.Flat))
	return cmd
}

// payload opens the source and runs both checks over it: package payload's on
// the tree, ours on each executable.
func (t *tool) payload(ctx context.Context, ref string, o payloadOptions) (report.Report, error) {
	r := report.Report{Subject: ref}
	load := o.registry.Options(t.App)
	if o.platform != "" {
		p, err := v1.ParsePlatform(o.platform)
		if err != nil {
			return r, &fault.Error{What: fmt.Sprintf("--platform can't be %q", o.platform), Fix: "--platform linux/amd64", Err: err}
		}
		load.Platform = p
	}
	digest, err := o.parseDigest()
	if err != nil {
		return r, err
	}
	if err := o.proof.load(); err != nil {
		return r, err
	}
	var want *pinned
	if len(o.only) > 0 && o.file == "" {
		return r, &fault.Error{What: "--only names components of versions.yaml, and there is none", Fix: "add -f versions.yaml, or leave --only out"}
	}
	check := verify.Options{Progress: func(done, total int64) {
		t.Console.Emit(event.Event{Object: ref, Phase: event.Verify, State: event.Progress, Done: done, Total: total})
	}}
	if o.file != "" {
		if want, err = loadPinned(o.file, o.only); err != nil {
			return r, err
		}
		check.Expected = expected(want, o)
	}
	demands, err := t.newDemands(o, want)
	if err != nil {
		return r, err
	}
	if o.file == "" {
		check.Expected = &payload.Tree{Format: payload.Format(demands.format)}
	}
	source, err := oci.Load(ctx, ref, load)
	if err != nil {
		return r, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	executables := &executables{want: want, inspected: map[string]bool{}, unsigned: map[string]string{}, modules: map[string][]string{}}
	executables.watch(&check)
	began := time.Now()
	t.Tell(ref, event.Verify, event.Start, "")
	problems, summary, err := verify.Check(ctx, source, check)
	if err != nil {
		return r, err
	}
	t.Tell(ref, event.Verify, event.Done, time.Since(began).Round(10*time.Millisecond).String())
	r.Subject, r.Checked = summary.Reference, counted(summary)
	proofs, err := t.proofs(ctx, source, load, summary, o.proof, want, executables.modules)
	if err != nil {
		return r, err
	}
	extras, err := t.extrasFindings(summary, want, executables.unsigned)
	demanded, notes := demands.findings(summary)
	r.Findings = slices.Concat(demanded, executables.findings, executables.missed(summary), treeFindings(problems, summary), keptFindings(summary, want), extras, proofs, digestFindings(source, digest))
	r.Notes = slices.Concat(notes, byteNotes(source, want, digest))
	return r, err
}

// parseDigest takes a digest alone, or what stands before it too: the line that
// bake payload printed.
func (o *payloadOptions) parseDigest() (v1.Hash, error) {
	if o.digest == "" {
		return v1.Hash{}, nil
	}
	h, err := v1.NewHash(o.digest[strings.LastIndex(o.digest, "@")+1:])
	if err != nil {
		return h, &fault.Error{What: fmt.Sprintf("--digest can't be %q", o.digest), Fix: "--digest sha256:..., as bake payload printed it", Err: err}
	}
	return h, nil
}

// digestFindings hold the image to the digest that it must have.
func digestFindings(source *oci.Source, want v1.Hash) []finding.Finding {
	if want == (v1.Hash{}) {
		return nil
	}
	f := finding.Finding{ID: "payload.digest", Object: source.Reference(), Observed: source.Digest.String()}
	if source.Digest == (v1.Hash{}) {
		f.Observed = "a folder, which has no digest"
	}
	if source.Digest != want {
		f.Severity, f.Expected = finding.Block, want.String()
		f.Why = "it isn't the image that was baked, whatever its files say of themselves"
		f.Remedy = "give the image that has this digest: a layout or tarball that bake payload wrote, or REPOSITORY@" + want.String()
	}
	return []finding.Finding{f}
}

// byteNotes say what the check doesn't prove: which image it is. Files say of
// themselves what they like.
func byteNotes(source *oci.Source, want *pinned, digest v1.Hash) []string {
	byDigest := digest != v1.Hash{} || source.Kind == oci.KindRegistry && strings.Contains(source.Ref, "@")
	switch {
	case byDigest || want != nil && len(want.programs) == 0 || want == nil && source.Kind == oci.KindDir:
		return nil
	case want == nil:
		return []string{"nothing says that it is the image that was baked: hold it to the digest that bake payload printed, with --digest"}
	}
	how := "hold the image to the digest that bake payload printed, with --digest"
	if source.Kind == oci.KindDir {
		how = "bake the folder again, and compare the two"
	}
	return []string{"no pin holds the sum of a built program, so its code was compared with nothing: " + how}
}

func expected(want *pinned, o payloadOptions) *payload.Tree {
	e := &payload.Tree{Format: payload.Format(cmp.Or(o.format, want.file.Format()))}
	for _, c := range want.components {
		sum := c.Locked.SHA256
		if c.Program() {
			sum = "" // no pin decides its bytes
		}
		if c.Signed != nil {
			sum = c.Signed.SHA256
		}
		e.Files = append(e.Files, payload.File{Path: c.Payload, SHA256: sum})
	}
	return e
}

// executables collects what is found in each program.
type executables struct {
	want      *pinned
	findings  []finding.Finding
	inspected map[string]bool
	unsigned  map[string]string   // sums of signed programs without their signatures
	modules   map[string][]string // package URLs of what programs link, as they say
}

// watch has every .exe shown to e, and every pinned program whatever its name.
func (e *executables) watch(o *verify.Options) {
	o.Executable = e.check
	if e.want != nil {
		o.Programs = slices.Sorted(maps.Keys(e.want.programs))
	}
}

// missed are the pinned programs that are there and couldn't be looked into.
func (e *executables) missed(summary verify.Summary) (fs []finding.Finding) {
	if e.want == nil {
		return nil
	}
	for _, image := range summary.Images {
		for _, f := range image.Files {
			if e.want.programs[f.Path] == nil || e.inspected[f.Path] {
				continue
			}
			e.inspected[f.Path] = true
			fs = append(fs, finding.Finding{
				ID: "binary.unread", Severity: finding.Unknown, Object: payload.Root + "/" + f.Path,
				Observed: "not read to its end", Expected: "the program that versions.yaml pins",
				Why: "nothing can be said of what it is", Remedy: "fix what else is found of this file",
			})
		}
	}
	return fs
}

func (e *executables) check(path string, r io.ReaderAt, size int64) {
	e.inspected[path] = true
	if f, err := pe.Read(r, size); err == nil {
		e.unsigned[path], _ = f.Unsigned() // a signature that can't be read is none
		if f.Build != nil {
			for _, m := range f.Build.Deps {
				if m.Replace != nil {
					m = m.Replace
				}
				if m.Version != "" && m.Version != "(devel)" {
					e.modules[path] = append(e.modules[path], sbom.PURL(m.Path, m.Version))
				}
			}
		}
	}
	var program *expect.Program
	if e.want != nil {
		program = e.want.programs[path]
	}
	e.findings = append(e.findings, expect.File(payload.Root+"/"+path, r, size, program)...)
}

// remedyFlags end the remedies that are a flag of ours.
var remedyFlags = map[string]string{verify.IDFormat: ": bake payload --format flat|archived", verify.IDLayerTable: ": --accept " + verify.IDLayerTable}

// treeFindings are package payload's problems, or one PASS for each image
// without any.
func treeFindings(problems []verify.Problem, summary verify.Summary) []finding.Finding {
	fs := deploy.Findings(problems)
	for i := range fs {
		fs[i].Remedy += remedyFlags[fs[i].ID]
	}
	if len(problems) == 0 {
		for _, image := range summary.Images {
			fs = append(fs, finding.Finding{ID: "payload.tree", Severity: finding.Pass, Object: summary.Reference,
				Observed: fmt.Sprintf("%s, %s, %s format", inventory.Many(len(image.Files), "file"), cmp.Or(image.Platform, "a folder"), image.Format)})
		}
	}
	return fs
}

func counted(s verify.Summary) string {
	files, bytes := 0, int64(0)
	var formats []string
	for _, image := range s.Images {
		files += len(image.Files)
		bytes += image.Bytes
		if f := string(image.Format); !slices.Contains(formats, f) {
			formats = append(formats, f)
		}
	}
	return fmt.Sprintf("%s, %.1f MB, %v", inventory.Many(files, "file"), float64(bytes)/1e6, formats)
}
