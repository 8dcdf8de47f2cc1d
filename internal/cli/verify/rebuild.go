package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/proc"
	"github.com/winbake/winbake/internal/build/attest"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/pe"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

const idRebuild = "payload.rebuild"

// rebuildOptions are those of `verify rebuild`.
type rebuildOptions struct {
	file, keyFile, bundle string
	components            []string
	registry              app.Registry
}

func newRebuild(t *tool) *cobra.Command {
	var o rebuildOptions
	cmd := &cobra.Command{
		Use: "rebuild REF", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := t.rebuild(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			return t.finish(r)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "", "versions.yaml to build from (default: what the image's provenance has)")
	f.StringVar(&o.keyFile, "key", "", "public key, as PEM, that signed the provenance")
	f.StringSliceVar(&o.components, "component", nil, "build and compare these components alone, separated by commas")
	f.StringVar(&o.bundle, "from-bundle", "", "take all sources from this file of bake bundle, and none from the network")
	o.registry.Register(f, "the registry")
	return cmd
}

// rebuild builds an image again, in empty caches, by the bake beside this program or on
// PATH, and compares.
func (t *tool) rebuild(ctx context.Context, ref string, o rebuildOptions) (r report.Report, err error) {
	bake, err := findBake()
	if err != nil {
		return r, err
	}
	source, err := oci.Load(ctx, ref, o.registry.Options(t.App))
	if err != nil {
		return r, err
	}
	defer source.Close() //nolint:errcheck // it was only read
	work, err := os.MkdirTemp("", "winbake-rebuild-")
	if err != nil {
		return r, fmt.Errorf("make a folder to build in: %w", err)
	}
	defer os.RemoveAll(work)
	args, env, err := t.recipe(ctx, source, work, o)
	if err != nil {
		return r, err
	}
	run := func(command string, more ...string) ([]byte, error) {
		cmd := proc.Command(ctx, bake, slices.Concat([]string{command, "--cache-dir", filepath.Join(work, "cache")}, args, more)...)
		// No flag of bake's comes from a variable that was meant for another run.
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "WINBAKE_") })
		cmd.Env = append(cmd.Env, append(env, "GOCACHE="+filepath.Join(work, "go"))...)
		cmd.Stderr = t.Stderr
		out, err := cmd.Output()
		if exit, is := errors.AsType[*exec.ExitError](err); is {
			err = &fault.Error{Where: ref, What: "it can't be built again: bake says why", Fix: "do what it says", Code: exit.ExitCode(), Err: err}
		}
		return out, err
	}
	image := filepath.Join(work, "image")
	more := []string{"--layout", image, "--sbom", "none"}
	if len(o.components) > 0 {
		more = append(more, "--only", strings.Join(o.components, ","))
	}
	if _, err := run("payload", more...); err != nil {
		return r, err
	}
	again, err := oci.Load(ctx, image, oci.Options{})
	if err != nil {
		return r, err
	}
	defer again.Close() //nolint:errcheck // it was only read
	r.Subject = source.Reference()
	r.Findings, err = compareBuilds(ctx, source, again, len(o.components) > 0)
	return r, err
}

func findBake() (string, error) {
	own, err := os.Executable()
	if err == nil {
		beside := filepath.Join(filepath.Dir(own), "bake"+filepath.Ext(own))
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	bake, err := exec.LookPath("bake")
	if err != nil {
		return "", &fault.Error{What: "no bake beside verify or on PATH, and it builds", Fix: "go install github.com/winbake/winbake/cmd/bake@latest", Err: err}
	}
	return bake, nil
}

// recipe is what bake is given: the pins of -f, else those of the provenance, which are
// written into work with the local files, out of the image.
func (t *tool) recipe(ctx context.Context, source *oci.Source, work string, o rebuildOptions) (args, env []string, err error) {
	if o.bundle != "" {
		args = append(args, "--from-bundle", o.bundle)
	}
	if o.registry.Insecure {
		args = append(args, "--plain-http")
	}
	if o.file != "" {
		return append(args, "-f", o.file), nil, nil
	}
	p, err := t.provenance(ctx, source, o)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(work)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close() //nolint:errcheck // only its files are written
	texts := map[string]string{"versions.yaml": p.Versions}
	for name, text := range p.Lock {
		texts["versions.lock/"+name] = text
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := put(root, name, []byte(texts[name])); err != nil {
			return nil, nil, err
		}
	}
	versions := filepath.Join(work, "versions.yaml")
	file, err := pins.Load(versions)
	if err != nil {
		return nil, nil, err
	}
	if err := localFiles(ctx, source, root, file); err != nil {
		return nil, nil, err
	}
	env = []string{"SOURCE_DATE_EPOCH="}
	for _, name := range slices.Sorted(maps.Keys(p.Options)) {
		if !slices.Contains(attest.Options, name) {
			return nil, nil, &fault.Error{Where: source.Reference(), What: "its provenance has the option " + name + ", which this verify doesn't know", Fix: "use the verify of the release that built it, or -f versions.yaml"}
		}
		for _, value := range p.Options[name] {
			if name == "SOURCE_DATE_EPOCH" {
				env = append(env, name+"="+value)
			} else if name != "only" || len(o.components) == 0 {
				args = append(args, "--"+name+"="+value)
			}
		}
	}
	return append(args, "-f", versions), env, nil
}

func put(root *os.Root, name string, data []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return root.WriteFile(name, data, 0o600)
}

// provenance is what the key signed of an image.
func (t *tool) provenance(ctx context.Context, source *oci.Source, o rebuildOptions) (*attest.Parameters, error) {
	if o.keyFile == "" || source.Kind != oci.KindRegistry {
		return nil, &fault.Error{Where: source.Ref, What: "nothing says what it was built from", Fix: "--key cosign.pub for an image in a registry that has provenance, or -f versions.yaml"}
	}
	key, err := attest.LoadPublic(o.keyFile)
	if err != nil {
		return nil, err
	}
	load := o.registry.Options(t.App)
	repository, err := oci.RepositoryOf(source.Ref)
	if err != nil {
		return nil, err
	}
	bundles, err := oci.Referrers(ctx, repository, source.Digest, attest.BundleType, attest.MaxSize, load)
	if err != nil {
		return nil, err
	}
	statements, _ := open(ctx, key, source, bundles)
	for _, s := range statements[attest.ProvenancePredicate] {
		var p attest.Provenance
		if err := json.Unmarshal(s.Predicate, &p); err == nil && p.BuildDefinition.BuildType == attest.BuildType {
			return &p.BuildDefinition.ExternalParameters, nil
		}
	}
	return nil, &fault.Error{Where: source.Reference(), What: "it has no provenance of bake payload that this key signed", Fix: "give the pins: -f versions.yaml", Code: finding.ExitBlock}
}

// localFiles takes the files that lay next to versions.yaml out of the image. bake holds
// each to its pin.
func localFiles(ctx context.Context, source *oci.Source, root *os.Root, file *pins.File) error {
	names := map[string]string{} // by path below /payload
	for _, c := range file.Components {
		switch {
		case c.File != "":
			names[c.Payload] = c.File
		case c.Signed != nil:
			names[c.Payload] = c.Signed.File
		}
	}
	var failed error
	_, _, err := verify.Check(ctx, source, verify.Options{
		Programs: slices.Collect(maps.Keys(names)),
		Executable: func(path string, r io.ReaderAt, size int64) {
			if names[path] == "" || failed != nil {
				return
			}
			data := make([]byte, size)
			if _, failed = r.ReadAt(data, 0); failed == nil || errors.Is(failed, io.EOF) {
				failed = put(root, filepath.FromSlash(names[path]), data)
			}
		},
	})
	return errors.Join(err, failed)
}

// compareBuilds compares an image with the one that was built again; some compares the
// files that the second has.
func compareBuilds(ctx context.Context, source, again *oci.Source, some bool) ([]finding.Finding, error) {
	if source.Digest == again.Digest {
		return []finding.Finding{{ID: idRebuild, Object: source.Reference(), Observed: "built again, bit for bit"}}, nil
	}
	first, err := filesOf(ctx, source, nil)
	if err != nil {
		return nil, err
	}
	second, err := filesOf(ctx, again, nil)
	if err != nil {
		return nil, err
	}
	var fs []finding.Finding
	other := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(second)) {
		if first[path].sum != second[path].sum {
			other[path] = true
			continue
		}
		if some {
			fs = append(fs, finding.Finding{ID: idRebuild, Object: payload.Root + "/" + path, Observed: "built again, bit for bit"})
		}
	}
	for path := range first {
		other[path] = other[path] || !some && second[path].sum == ""
	}
	maps.DeleteFunc(other, func(_ string, is bool) bool { return !is })
	if len(other) > 0 {
		if first, err = filesOf(ctx, source, other); err == nil {
			second, err = filesOf(ctx, again, other)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(other)) {
		cause := pe.Difference(bytes.NewReader(first[path].data), bytes.NewReader(second[path].data))
		switch {
		case first[path].sum == "":
			cause = "the image doesn't have it"
		case second[path].sum == "":
			cause = "the pins don't have it"
		}
		fs = append(fs, notRebuilt(payload.Root+"/"+path, cause))
	}
	if len(other) == 0 && !some {
		fs = append(fs, notRebuilt(source.Reference(), imageDifference(source, again)))
	}
	return fs, err
}

func notRebuilt(object, cause string) finding.Finding {
	return finding.Finding{
		ID: idRebuild, Severity: finding.Block, Object: object, Observed: cause, Expected: "the same bytes",
		Why: "it isn't what these pins give", Remedy: "build with the same bake and pins; else ask who built it",
	}
}

// content is a file of a payload: its sum, and its bytes where they were asked for.
type content struct {
	sum  string
	data []byte
}

func filesOf(ctx context.Context, source *oci.Source, keep map[string]bool) (map[string]content, error) {
	all := map[string]content{}
	data := map[string][]byte{}
	o := verify.Options{Programs: slices.Collect(maps.Keys(keep)), Executable: func(path string, r io.ReaderAt, size int64) {
		if keep[path] {
			data[path], _ = io.ReadAll(io.NewSectionReader(r, 0, size)) // of memory
		}
	}}
	_, summary, err := verify.Check(ctx, source, o)
	for _, image := range summary.Images {
		for _, f := range image.Files {
			all[f.Path] = content{f.SHA256, data[f.Path]}
		}
	}
	return all, err
}

// imageDifference says why images with the same files differ.
func imageDifference(source, again *oci.Source) string {
	one, errOne := firstConfig(source)
	two, errTwo := firstConfig(again)
	if err := errors.Join(errOne, errTwo); err != nil {
		return err.Error()
	}
	if slices.Equal(one.RootFS.DiffIDs, two.RootFS.DiffIDs) && maps.Equal(one.Config.Labels, two.Config.Labels) {
		return "layers have the same content and other bytes: another compressor, or another bake"
	}
	for _, key := range slices.Sorted(maps.Keys(one.Config.Labels)) {
		if one.Config.Labels[key] != two.Config.Labels[key] {
			return fmt.Sprintf("label %s: %s, and now %s", key, one.Config.Labels[key], cmp.Or(two.Config.Labels[key], "none"))
		}
	}
	return "the files are the same, and layers or configuration aren't: other flags, another base, or another bake"
}

func firstConfig(s *oci.Source) (*v1.ConfigFile, error) {
	images, err := s.Images()
	if err != nil || len(images) == 0 {
		return nil, errors.Join(err, errors.New("there is no image"))
	}
	return images[0].Image.ConfigFile()
}
