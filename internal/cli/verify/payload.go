package verify

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/expect"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/pe"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/payload"
)

// payloadOptions are the flags of `verify payload`.
type payloadOptions struct {
	file     string
	only     []string
	format   string
	platform string
	insecure bool
}

func newPayload(t *tool) *cobra.Command {
	var o payloadOptions
	cmd := &cobra.Command{
		Use:   "payload REF|LAYOUT|TARBALL|DIR",
		Short: "Check a payload image, tarball or folder",
		Long: `payload reads the merged file system of an image as a container would see it,
unpacks nothing to disk, and checks: the checksum list against every file and
back, names, tar safety, and of each .exe its header, its Go build info and
its symbols. What the image says of nodes, /winbake/node.json, is compared with
those files too. With -f everything is also compared with the pins and their
lock.

The source is a registry reference, an OCI layout, a tarball (OCI or docker),
or a folder that bake payload --dir wrote.`,
		Example: `  verify payload _output/image -f versions.yaml
  verify payload quay.io/me/payload:4.20
  verify payload payload.tar -o json`,
		Args: app.Args(cobra.ExactArgs(1)),
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
	f.StringVar(&o.format, "format", "", "format that is expected: archived or flat (default with -f: by the release)")
	f.StringVar(&o.platform, "platform", "", "of an index, check this platform alone, such as linux/amd64")
	f.BoolVar(&o.insecure, "insecure", false, "talk plain http to the registry")
	app.Choices(cmd, "format", string(payload.Archived), string(payload.Flat))
	return cmd
}

// payload opens the source and runs both checks over it: package payload's on
// the tree, ours on each executable.
func (t *tool) payload(ctx context.Context, ref string, o payloadOptions) (report.Report, error) {
	r := report.Report{Subject: ref}
	load := payload.LoadOptions{Keychain: authn.DefaultKeychain, Insecure: o.insecure, UserAgent: "winbake/" + app.Version()}
	if o.platform != "" {
		p, err := v1.ParsePlatform(o.platform)
		if err != nil {
			return r, &fault.Error{What: fmt.Sprintf("--platform can't be %q", o.platform), Fix: "--platform linux/amd64", Err: err}
		}
		load.Platform = p
	}
	var want *pinned
	check := payload.CheckOptions{Progress: func(done, total int64) {
		t.Console.Emit(event.Event{Object: ref, Phase: event.Verify, State: event.Progress, Done: done, Total: total})
	}}
	if o.file != "" {
		var err error
		if want, err = loadPinned(o.file, o.only); err != nil {
			return r, err
		}
		if check.Expected, err = expected(want, o); err != nil {
			return r, err
		}
	} else if o.format != "" {
		check.Expected = &payload.Expected{Format: payload.Format(o.format)}
	}
	source, err := payload.Load(ctx, ref, load)
	if err != nil {
		return r, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	executables := &executables{want: want}
	check.Executable = executables.check
	began := time.Now()
	t.Console.Emit(event.Event{Object: ref, Phase: event.Verify, State: event.Start})
	problems, summary, err := payload.Check(ctx, source, check)
	if err != nil {
		return r, err
	}
	t.Console.Emit(event.Event{Object: ref, Phase: event.Verify, State: event.Done, Message: time.Since(began).Round(10 * time.Millisecond).String()})
	r.Subject, r.Checked = summary.Reference, counted(summary)
	extras, err := t.extrasFindings(summary, want)
	r.Findings = slices.Concat(executables.findings, treeFindings(problems, summary), extras)
	return r, err
}

// expected lists the files that the pins put into the payload.
func expected(want *pinned, o payloadOptions) (*payload.Expected, error) {
	e := &payload.Expected{Format: payload.Format(want.file.Format())}
	if o.format != "" {
		e.Format = payload.Format(o.format)
	}
	components, err := want.file.Select(o.only)
	if err != nil {
		return nil, err
	}
	lock, err := pins.LoadLock(want.file)
	if err != nil {
		return nil, err
	}
	for _, c := range components {
		e.Files = append(e.Files, payload.ExpectedFile{Path: c.Payload, SHA256: sumOf(c, lock)})
	}
	return e, nil
}

// executables collects what is found in each .exe.
type executables struct {
	want     *pinned
	findings []finding.Finding
}

func (e *executables) check(path string, r io.ReaderAt, size int64) {
	var program *expect.Program
	if e.want != nil {
		program = e.want.programs[path]
	}
	e.findings = append(e.findings, checkExecutable(payload.Root+"/"+path, r, size, program)...)
}

// checkExecutable judges one .exe; program is nil where no pin is known.
func checkExecutable(object string, r io.ReaderAt, size int64, program *expect.Program) []finding.Finding {
	image, err := pe.Read(r, size)
	if err != nil {
		return []finding.Finding{{
			ID: "binary.pe.unreadable", Severity: finding.Block, Object: object, Observed: err.Error(), Expected: "a Windows executable",
			Why: "Windows won't start it", Remedy: "bake it again: bake build --no-cache",
		}}
	}
	if program != nil {
		return program.Check(object, image)
	}
	return expect.Executable(object, image)
}

// treeFindings are package payload's problems, or one PASS for each image
// without any.
func treeFindings(problems []payload.Problem, summary payload.Summary) []finding.Finding {
	severities := map[payload.Severity]finding.Severity{
		payload.SeverityBlock: finding.Block, payload.SeverityUnknown: finding.Unknown,
		payload.SeverityWarn: finding.Warn, payload.SeverityInfo: finding.Info,
	}
	var fs []finding.Finding
	for _, p := range problems {
		fs = append(fs, finding.Finding{
			ID: p.ID, Severity: severities[p.Severity], Object: p.Object,
			Observed: p.Observed, Expected: p.Expected, Why: p.Why, Remedy: p.Remedy,
		})
	}
	if len(problems) == 0 {
		for _, image := range summary.Images {
			fs = append(fs, finding.Finding{ID: "payload.tree", Severity: finding.Pass, Object: summary.Reference,
				Observed: fmt.Sprintf("%d files, %s, %s format", len(image.Files), or(image.Platform, "a folder"), image.Format)})
		}
	}
	return fs
}

func counted(s payload.Summary) string {
	files, bytes := 0, int64(0)
	var formats []string
	for _, image := range s.Images {
		files += len(image.Files)
		bytes += image.Bytes
		if f := string(image.Format); !slices.Contains(formats, f) {
			formats = append(formats, f)
		}
	}
	return fmt.Sprintf("%d files, %.1f MB, %v", files, float64(bytes)/1e6, formats)
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
