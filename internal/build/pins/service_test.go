package pins

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

const services = `apiVersion: winbake.dev/v1
release: "4.20"
go: "1.26.8"
components:
  - name: csi-proxy
    file: a
    sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    payload: csi-proxy/csi-proxy.exe
    install: 'C:\k\csi-proxy.exe'
services:
`

func define(t *testing.T, text string) []winsvc.Service {
	t.Helper()
	f, err := Parse("versions.yaml", []byte(services+text))
	if err != nil {
		t.Fatal(err)
	}
	return f.Definitions()
}

func TestCSIProxyNeedsNoMore(t *testing.T) {
	got := define(t, "  - {name: csi-proxy, component: csi-proxy}\n")
	if want := []winsvc.Service{winsvc.CSIProxy()}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// versions.yaml writes csi-proxy's settings out, for people to see.
func TestRepositoryWritesTheDefaultOut(t *testing.T) {
	f, err := Load("../../../versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Definitions()[0]; !reflect.DeepEqual(got, winsvc.CSIProxy()) {
		t.Errorf("%+v\nwant %+v", got, winsvc.CSIProxy())
	}
}

func TestEveryKeyOfAService(t *testing.T) {
	got := define(t, `
  - name: csi-proxy
    component: csi-proxy
    args: [-windows-service]
    display: D
    description: E
    start: delayed
    account: LocalSystem
    priority: 7
    recovery: {reset: 1h, actions: [run/5s, none/0s], command: C:\x.cmd, onNonCrash: true}
    logDirectory: C:\log
    environment: {A: "b"}
    dependencies: [RpcSs]
  - name: other
    path: C:\k\other.exe
    args: [NODE_NAME, IP_ADDRESS]
    nodeArgs: [{name: NODE_NAME, path: "{.metadata.name}"}]
    preScripts: [{variable: IP_ADDRESS, command: Get -Of OTHER_NAME, nodeArgs: [{name: OTHER_NAME, path: "{.x}"}]}]
    priority: 8
    wmcoOnly: true
`)
	want := []winsvc.Service{{
		Name: "csi-proxy", Component: "csi-proxy", Path: `C:\k\csi-proxy.exe`, Arguments: []string{"-windows-service"}, Display: "D", Description: "E",
		Start: winsvc.StartDelayed, Account: "LocalSystem", Priority: 7, LogDirectory: `C:\log`,
		Environment: map[string]string{"A": "b"}, Dependencies: []string{"RpcSs"},
		Recovery: winsvc.Recovery{Reset: time.Hour, Command: `C:\x.cmd`, OnNonCrash: true, Actions: []winsvc.Action{{Kind: winsvc.ActionRun, Delay: 5 * time.Second}, {Kind: winsvc.ActionNone}}},
	}, {
		Name: "other", Path: `C:\k\other.exe`, Arguments: []string{"NODE_NAME", "IP_ADDRESS"}, Start: winsvc.StartAutomatic, Priority: 8, WMCOOnly: true,
		NodeArgs:   []winsvc.NodeArg{{Name: "NODE_NAME", Path: "{.metadata.name}"}},
		PreScripts: []winsvc.PreScript{{Variable: "IP_ADDRESS", Command: "Get -Of OTHER_NAME", NodeArgs: []winsvc.NodeArg{{Name: "OTHER_NAME", Path: "{.x}"}}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

// What only the catalog knows is reported at its place too.
func TestMistakesHavePositions(t *testing.T) {
	f, err := Parse("v.yaml", []byte(services+"  - name: csi-proxy\n    component: csi-proxy\n    args:\n      - -windows-service\n      - -shiny\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Definitions()[0]
	err = f.Mistakes(winsvc.CheckProxyArguments(0, s, "v1.1.3", []string{"-windows-service"}))
	if err == nil || !strings.HasPrefix(err.Error(), "v.yaml:15:9: csi-proxy v1.1.3 doesn't know the flag -shiny") || !strings.Contains(err.Error(), "   15 |       - -shiny\n      |         ^\n") {
		t.Errorf("%v", err)
	}
	if err := f.Mistakes(nil); err != nil {
		t.Errorf("no mistakes: %v", err)
	}
	if err := (&File{Path: "x", Services: []Service{{}}}).Mistakes([]winsvc.Problem{{What: "bad", Item: -1}}); err == nil || !strings.HasPrefix(err.Error(), "x: bad") {
		t.Errorf("a file that wasn't read: %v", err)
	}
}

// Services change neither lock nor bytes of any component.
func TestServicesLeavePinsAlone(t *testing.T) {
	src, err := os.ReadFile("../../../versions.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bare, _, found := strings.Cut(string(src), "\nservices:\n")
	if !found {
		t.Fatal("versions.yaml has no services")
	}
	with, err := Parse("versions.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	without, err := Parse("versions.yaml", []byte(bare))
	if err != nil {
		t.Fatal(err)
	}
	if len(with.Services) == 0 || len(without.Services) != 0 {
		t.Fatalf("%d and %d services", len(with.Services), len(without.Services))
	}
	for i := range with.Components {
		if got, want := with.Components[i].PinDigest(with), without.Components[i].PinDigest(without); got != want {
			t.Errorf("%s: %s, without services %s", with.Components[i].Name, got, want)
		}
	}
	lock, err := LoadLock(&File{Path: "../../../versions.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	with.Path = "../../../versions.yaml" // where its locks are
	if stale := lock.Check(with); len(stale) > 0 {
		t.Errorf("stale: %v", stale)
	}
}
