package operator

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// operator is what the Windows Machine Config Operator of a release asks of its
// own /payload, written from what it does and not from how Winbake has it:
// requiredFiles in cmd/operator/main.go, getFilesToTransfer in
// pkg/windows/windows.go and pkg/nodeconfig/payload of its release branch.
// https://github.com/openshift/windows-machine-config-operator
type operator struct {
	release, version string
	archived         bool
	start, transfer  []string
	cloud            map[string]string // a file more for the nodes of one
}

// Files that each release asks for, when it starts and for each node.
var (
	atStart = []string{
		"cni/host-local.exe", "cni/win-bridge.exe", "cni/win-overlay.exe", "hybrid-overlay-node.exe",
		"kube-node/kubelet.exe", "kube-node/kube-proxy.exe", "kube-node/kube-log-runner.exe",
		"powershell/gcp-get-hostname.ps1", "windows-instance-config-daemon.exe", "powershell/hns.psm1", "azure-cloud-node-manager.exe",
	}
	toNodes = []string{
		"powershell/gcp-get-hostname.ps1", "powershell/windows-defender-exclusion.ps1", "hybrid-overlay-node.exe", "powershell/hns.psm1",
		"cni/win-bridge.exe", "cni/host-local.exe", "cni/win-overlay.exe",
		"kube-node/kube-proxy.exe", "kube-node/kubelet.exe", "kube-node/kube-log-runner.exe", "csi-proxy/csi-proxy.exe",
		"containerd/containerd.exe", "containerd/containerd-shim-runhcs-v1.exe", "containerd/containerd_conf.toml",
		"windows-instance-config-daemon.exe", "generated/network-conf.ps1",
	}
	toClouds = map[string]string{"AWS": "ecr-credential-provider.exe", "Azure": "azure-cloud-node-manager.exe"}
)

func newOperator(release, version string) operator {
	o := operator{release: release, version: version, archived: release != "4.15" && release != "4.20", cloud: toClouds}
	exporter := []string{"windows-exporter/windows_exporter.exe", "windows-exporter/windows-exporter-webconfig.yaml"}
	if release == "4.15" {
		exporter = []string{"windows_exporter.exe"}
	}
	o.start = slices.Concat(atStart, exporter[:1])
	o.transfer = slices.Concat(toNodes, exporter)
	return o
}

// files are all that its image has, but for what it writes itself.
func (o operator) files() []string {
	all := map[string]bool{}
	for _, f := range slices.Concat(o.start, o.transfer, slices.Collect(maps.Values(o.cloud))) {
		all[f] = f != generated
	}
	maps.DeleteFunc(all, func(_ string, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(all))
}

const generated = "generated/network-conf.ps1"

// file is one of a container's file system.
type file struct {
	mode int64
	dir  bool
	body []byte
}

// read is what a user who isn't root gets of a file.
func read(root map[string]file, name string) ([]byte, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if d, ok := root[dir]; ok && (!d.dir || d.mode&0o001 == 0) {
			return nil, fmt.Errorf("open /%s: permission denied at /%s", name, dir)
		}
	}
	f, ok := root[name]
	switch {
	case !ok || f.dir:
		return nil, fmt.Errorf("open /%s: no such file", name)
	case f.mode&0o004 == 0:
		return nil, fmt.Errorf("open /%s: permission denied", name)
	}
	return f.body, nil
}

// starts is what the operator does before it becomes the leader. It returns the
// checksums that it goes by from then on.
func (o operator) starts(root map[string]file) (map[string]string, error) {
	var missing []string
	for _, f := range o.start {
		if _, err := read(root, o.at(f)); err != nil {
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("could not stat %s", strings.Join(missing, ", "))
	}
	sums := map[string]string{}
	if o.archived {
		list, err := read(root, "payload/sha256sum")
		if err != nil {
			return nil, err
		}
		if sums, err = parse(string(list)); err != nil {
			return nil, err
		}
	}
	if d := root["payload/generated"]; !d.dir || d.mode&0o003 != 0o003 {
		return nil, fmt.Errorf("create %s: permission denied", generated)
	}
	script := []byte("# what the operator writes for each node")
	sums["network-conf.ps1"] = sum(script)
	root[o.at(generated)] = file{mode: 0o644, body: script}
	if o.archived {
		root[o.at(generated)] = file{mode: 0o644, body: archive("network-conf.ps1", script)}
	}
	return sums, nil
}

// configures is what the operator copies to a node of a cloud: each file by its
// name there, with its content. Files with a checksum are held to it, as a node
// that has the file already is.
func (o operator) configures(root map[string]file, sums map[string]string, cloud string) (map[string][]byte, error) {
	node := map[string][]byte{}
	list := slices.Clone(o.transfer)
	if more, ok := o.cloud[cloud]; ok {
		list = append(list, more)
	}
	for _, f := range list {
		name := path.Base(f)
		body, err := read(root, o.at(f))
		if err == nil && o.archived {
			if sums[name] == "" {
				return nil, fmt.Errorf("missing checksum for %s", name)
			}
			if body, err = unpack(name, body); err == nil && sum(body) != sums[name] {
				err = fmt.Errorf("%s has the sum %s, not %s", name, sum(body), sums[name])
			}
		}
		if err != nil {
			return nil, err
		}
		node[name] = body
	}
	return node, nil
}

func (o operator) at(f string) string {
	if o.archived {
		return "payload/" + f + ".tar.gz"
	}
	return "payload/" + f
}

// parse reads sha256sum: the sum, two spaces, a path of which the last part
// counts. A second line for one name stops the operator.
func parse(list string) (map[string]string, error) {
	sums := map[string]string{}
	for line := range strings.SplitSeq(list, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		digest, name, ok := strings.Cut(line, "  ")
		if name = path.Base(name); !ok || digest == "" || name == "." {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		if sums[name] != "" {
			return nil, fmt.Errorf("two lines for %s", name)
		}
		sums[name] = digest
	}
	return sums, nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func archive(name string, body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(body)), Mode: 0o644})
	if err == nil {
		_, err = w.Write(body)
	}
	if err != nil || w.Close() != nil || z.Close() != nil {
		panic(err) // memory takes it
	}
	return b.Bytes()
}

// unpack is what tar -xzf leaves under that name.
func unpack(name string, b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r := tar.NewReader(z)
	h, err := r.Next()
	if err != nil || h.Name != name {
		return nil, fmt.Errorf("the archive of %s holds something else: %w", name, err)
	}
	return io.ReadAll(r)
}
