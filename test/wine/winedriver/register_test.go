//go:build drivers

package winedriver

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

// TestRegistration plays the kubelet to the fork's node-driver-registrar, which asks
// the driver's name over CSI and tells it over a socket of its own. Both sockets are
// TCP ones here.
func TestRegistration(t *testing.T) {
	n := winenode.Start(t, winenode.Options{})
	_, address := listening(t, n, Case{Driver: "smb", Exe: filepath.Join(given(t), "4.22-smb.exe"), HostProcess: true})
	programs, err := filepath.Glob(filepath.Join(given(t), "*-node-driver-registrar.exe"))
	if err != nil || len(programs) == 0 {
		t.Fatalf("%s has no RELEASE-node-driver-registrar.exe: %v", given(t), err)
	}
	unixSocket := winenode.Program(t, "./test/wine/winedriver/unixsocket")
	const socket = `C:\var\lib\kubelet\plugins\smb.csi.k8s.io\csi.sock`
	for _, exe := range programs {
		own, err := Address()
		if err != nil {
			t.Fatal(err)
		}
		p := Program{Exe: exe, UnixSocket: unixSocket, Args: []string{"--csi-address=unix://" + socket, "--kubelet-registration-path=" + socket, `--plugin-registration-path=C:\var\lib\kubelet`}}
		_, p.Listen, _ = net.SplitHostPort(own)
		_, p.Connect, _ = net.SplitHostPort(address)
		r, err := Start(t.Context(), n.Prefix, p)
		if err != nil {
			t.Fatal(err)
		}
		kubelet, err := r.Client(own)
		if err != nil {
			t.Fatal(err)
		}
		// https://github.com/kubernetes/kubelet/blob/v0.34.0/pkg/apis/pluginregistration/v1/api.proto
		info, err := kubelet.Call(t.Context(), "/pluginregistration.Registration/GetInfo", nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", filepath.Base(exe), err, r.Log())
		}
		if got, want := strings.Join(append(append(info[1], info[2]...), info[3]...), " "), "CSIPlugin smb.csi.k8s.io "+socket; got != want {
			t.Errorf("%s registers %s, want %s", filepath.Base(exe), got, want)
		}
		if _, err := kubelet.Call(t.Context(), "/pluginregistration.Registration/NotifyRegistrationStatus", Message(nil).number(1, 1)); err != nil {
			t.Errorf("%s: %v", filepath.Base(exe), err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
