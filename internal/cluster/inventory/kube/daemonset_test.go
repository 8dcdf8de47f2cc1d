package kube

import (
	"testing"
)

const pipeMode = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: vsphere-node-windows, namespace: storage}
spec:
  template:
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      serviceAccountName: vsphere-node
      containers:
      - name: node-driver-registrar
        livenessProbe: {exec: {command: [/csi-node-driver-registrar.exe, --mode=kubelet-registration-probe]}}
        image: mirror.example:5000/sig-storage/csi-node-driver-registrar:v2.9.0
        args: ["--v=5", "--csi-address=$(ADDRESS)", "--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)"]
        env:
        - {name: ADDRESS, value: 'unix://C:\\csi\\csi.sock'}
        - {name: DRIVER_REG_SOCK_PATH, value: 'C:\\var\\lib\\kubelet\\plugins\\csi.vsphere.vmware.com\\csi.sock'}
      - name: vsphere-csi-node
        image: mirror.example:5000/anything/driver:v3.3.0
        env: [{name: CSI_ENDPOINT, value: 'unix://C:\\csi\\csi.sock'}]
        volumeMounts:
        - {name: disk, mountPath: '\\.\pipe\csi-proxy-disk-v1'}
        - {name: system, mountPath: '\\.\pipe\csi-proxy-system-v1alpha1'}
      - name: liveness-probe
        image: mirror.example:5000/sig-storage/livenessprobe:v2.11.0
        args: ["--csi-address=$(ADDRESS)"]
      volumes:
      - {name: disk, hostPath: {path: '\\.\pipe\csi-proxy-disk-v1'}}
      - {name: system, hostPath: {path: "\\\\.\\pipe\\csi-proxy-system-v1alpha1"}}
      - {name: volume, hostPath: {path: '\\.\pipe\csi-proxy-volume-v1'}}
`

func TestPipeMode(t *testing.T) {
	d := driver(t, pipeMode)
	if d.Provisioner != "csi.vsphere.vmware.com" || d.Line != "vsphere" || d.OS != "windows" || d.Mode() != "csi-proxy" {
		t.Errorf("%s %s %s %s", d.Provisioner, d.Line, d.OS, d.Mode())
	}
	if d.Container != "vsphere-csi-node" || d.Version.Version.String() != "3.3.0" || d.Version.By != "tag" {
		t.Errorf("container %s, version %+v", d.Container, d.Version)
	}
	if len(d.Pipes) != 2 || d.Pipes[0].Name() != "disk-v1" || d.Pipes[1].Name() != "system-v1alpha1" {
		t.Errorf("pipes %v", d.Pipes)
	}
	if len(d.Unmounted) != 1 || d.Unmounted[0].Name() != "volume-v1" {
		t.Errorf("unmounted %v", d.Unmounted)
	}
	if d.Registrar == nil || d.Registrar.Version.Version.String() != "2.9.0" {
		t.Errorf("registrar %+v", d.Registrar)
	} else if len(d.Registrar.Probe) != 2 || d.Registrar.Probe[1] != "--mode=kubelet-registration-probe" {
		t.Errorf("its probe %q", d.Registrar.Probe)
	}
	if d.ServiceAccount != "vsphere-node" {
		t.Errorf("service account %q", d.ServiceAccount)
	}
}
