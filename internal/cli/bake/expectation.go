package bake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/compile"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/pins"
	"github.com/winbake/winbake/internal/winsvc"
	"github.com/winbake/winbake/payload"
)

// extrasOptions are the flags about what goes into the image's /winbake.
type extrasOptions struct {
	withVerify bool
	verifyExe  string
}

// extras are the files of /winbake: node.json where versions.yaml declares
// services, and verify.exe where it was asked for.
func (t *tool) extras(ctx context.Context, o extrasOptions, file *pins.File, jobs []*compile.Job, artifacts []*compile.Artifact) ([]payload.File, error) {
	var files []payload.File
	if len(file.Services) > 0 {
		e, err := t.expectation(file, jobs, artifacts)
		if err != nil {
			return nil, err
		}
		data, err := e.Encode()
		if err != nil {
			return nil, err
		}
		files = append(files, bytesFile(payload.ExpectationName, data))
	}
	if !o.withVerify {
		return files, nil
	}
	path, err := verifyExe(o.verifyExe)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read verify.exe: %w", err)
	}
	return append(files, bytesFile(payload.VerifyName, data)), ctx.Err()
}

func bytesFile(name string, data []byte) payload.File {
	sum := sha256.Sum256(data)
	return payload.File{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// verifyExe is the node's verify: the one that was named, or the one beside
// this program.
func verifyExe(named string) (string, error) {
	if named == "" {
		self, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find this program: %w", err)
		}
		named = filepath.Join(filepath.Dir(self), payload.VerifyName)
	}
	if _, err := os.Stat(named); err != nil {
		return "", &fault.Error{Where: named, What: "there is no verify.exe", Fix: "make bin, or --verify-exe FILE", Err: err}
	}
	return named, nil
}

// expectation is what a node with this payload should be. What only WMCO can
// set up isn't in it: its command line is known on the node alone.
func (t *tool) expectation(file *pins.File, jobs []*compile.Job, artifacts []*compile.Artifact) (*node.Expectation, error) {
	e := &node.Expectation{APIVersion: node.APIVersion, Release: file.Release, Files: []node.File{}, Services: []node.Service{}}
	versions := map[string]string{}
	for i, j := range jobs {
		c := j.Component
		versions[c.Name] = j.Stamps["main.version"]
		if c.Install == "" {
			continue
		}
		e.Files = append(e.Files, node.File{Component: c.Name, Path: c.Install, Payload: c.Payload,
			SHA256: strings.TrimPrefix(artifacts[i].Digest, "sha256:"), Size: artifacts[i].Size, Version: stampedVersion(j.Stamps)})
	}
	_, services, err := t.services()
	if err != nil {
		return nil, err
	}
	for _, s := range services {
		if _, built := versions[s.Component]; !s.Standalone() || s.Component != "" && !built {
			continue
		}
		one := node.Service{Service: s}
		if s.IsCSIProxy() {
			one.Log, one.Version = logFile(s.Arguments), versions[s.Component]
			if len(s.Pipes) == 0 {
				one.Pipes = commonPipes()
			}
		}
		e.Services = append(e.Services, one)
	}
	return e, nil
}

// commonPipes are those that every csi-proxy since v1.0.0 serves, for one that
// the catalog doesn't know
// (https://github.com/kubernetes-csi/csi-proxy/tree/v1.0.0/client/api).
func commonPipes() (pipes []string) {
	for _, group := range []string{"disk-v1", "filesystem-v1", "smb-v1", "volume-v1"} {
		pipes = append(pipes, winsvc.PipePrefix+group)
	}
	return pipes
}

// stampedVersion is the stamp that holds a program's version, by the names
// that such variables have.
func stampedVersion(stamps map[string]string) string {
	for _, name := range []string{"main.version", "k8s.io/component-base/version.gitVersion", "main.gitVersion"} {
		if v := stamps[name]; v != "" {
			return v
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stamps)) {
		for _, end := range []string{"/version.Version", "/version.gitVersion", ".BuildVersion"} {
			if strings.HasSuffix(name, end) && !strings.HasPrefix(name, "k8s.io/client-go/") {
				return stamps[name]
			}
		}
	}
	return ""
}

// logFile is klog's -log_file, "" for none.
func logFile(args []string) string {
	for _, a := range args {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "log_file="); ok && strings.HasPrefix(a, "-") {
			return rest
		}
	}
	return ""
}
