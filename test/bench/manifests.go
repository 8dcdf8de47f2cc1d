package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigs "sigs.k8s.io/yaml"
)

// The folder of manifests that a large GitOps repository has.
const (
	manifestFiles = 1000
	perFile       = 4 // documents
)

// manifest is an application as teams write it. One of them is the Windows
// driver.
const manifest = `apiVersion: apps/v1
kind: %[2]s
metadata: {name: app-%[1]d, namespace: team-%[1]d, labels: {app: app-%[1]d}}
spec:
  selector: {matchLabels: {app: app-%[1]d}}
  template:
    metadata: {labels: {app: app-%[1]d}}
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      containers:
      - name: node-driver-registrar
        image: registry.example.com/csi-node-driver-registrar:v2.14.0
        args: ["--csi-address=unix://C:\\csi\\csi.sock", "--kubelet-registration-path=C:\\var\\lib\\kubelet\\plugins\\csi.vsphere.vmware.com\\csi.sock"]
      - name: vsphere-csi-node
        image: registry.example.com/csi-vsphere/driver:v3.3.0
        env: [{name: A, value: "1"}, {name: B, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        resources: {requests: {cpu: 10m, memory: 50Mi}, limits: {memory: 200Mi}}
        volumeMounts:
        - {name: disk, mountPath: '\\.\pipe\csi-proxy-disk-v1'}
        - {name: volume, mountPath: '\\.\pipe\csi-proxy-volume-v1'}
        - {name: filesystem, mountPath: '\\.\pipe\csi-proxy-filesystem-v1'}
        - {name: system, mountPath: '\\.\pipe\csi-proxy-system-v1alpha1'}
      volumes:
      - {name: disk, hostPath: {path: '\\.\pipe\csi-proxy-disk-v1', type: ""}}
      - {name: volume, hostPath: {path: '\\.\pipe\csi-proxy-volume-v1', type: ""}}
      - {name: filesystem, hostPath: {path: '\\.\pipe\csi-proxy-filesystem-v1', type: ""}}
      - {name: system, hostPath: {path: '\\.\pipe\csi-proxy-system-v1alpha1', type: ""}}
---
apiVersion: v1
kind: Service
metadata: {name: app-%[1]d, namespace: team-%[1]d}
spec: {selector: {app: app-%[1]d}, ports: [{port: 80, targetPort: 8080, name: http}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app-%[1]d, namespace: team-%[1]d}
data:
  settings.yaml: |
    level: info
    endpoints: [a, b, c]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: app-%[1]d, namespace: team-%[1]d}
spec: {podSelector: {matchLabels: {app: app-%[1]d}}, policyTypes: [Ingress], ingress: [{from: [{podSelector: {}}]}]}
`

// manifests compares verify skew over a large folder, on one core, with a plain
// reader that decodes every document.
func (b *bench) manifests(ctx context.Context) error {
	dir := filepath.Join(b.dir, "manifests")
	if err := writeManifests(dir); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Setenv("GOMAXPROCS", "1"); err != nil {
		return err
	}
	defer os.Unsetenv("GOMAXPROCS") //nolint:errcheck // fails for an impossible name alone
	var plain, ours usage
	for i := range runs {
		p, err := measure(ctx, self, "-child", "decode", b.list(), dir)
		if err != nil {
			return err
		}
		o, err := measure(ctx, "bin/verify", "skew", "--from", "4.19", "--to", "4.20", "--static", "--fail-on", "block", "--manifests", dir)
		if err != nil {
			return err
		}
		if i > 0 {
			p, o = plain.least(p), ours.least(o)
		}
		plain, ours = p, o
	}
	what := fmt.Sprintf("verify skew, %d manifest files, %d documents, one core: ", manifestFiles, manifestFiles*perFile)
	b.table.add(what+"time / decoding them all", seconds(plain.wall), seconds(ours.wall), ratio(ours.wall, plain.wall), atMost(1.5))
	b.table.add(what+"peak memory", "", "", float64(ours.peak)/1e6, limit{value: 150, unit: " MB"})
	return nil
}

func writeManifests(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range manifestFiles {
		kind := "Deployment"
		if i == manifestFiles/2 {
			kind = "DaemonSet"
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%d.yaml", i)), fmt.Appendf(nil, manifest, i, kind), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// decode is the plain reader: every document of every file, one after another.
func decode(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	documents := 0
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		n, err := decodeFile(data)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		documents += n
	}
	if documents != manifestFiles*perFile {
		return fmt.Errorf("%d documents in %s, expected %d", documents, dir, manifestFiles*perFile)
	}
	return nil
}

func decodeFile(data []byte) (documents int, err error) {
	r := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(data)))
	defer r.Close() //nolint:errcheck // of memory
	buffer := make([]byte, len(data)+1)
	for {
		n, err := r.Read(buffer)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, err
		}
		var into map[string]any
		if err := sigs.Unmarshal(buffer[:n], &into); err != nil {
			return documents, err
		}
		documents++
	}
}
