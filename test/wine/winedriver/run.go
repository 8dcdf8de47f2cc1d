package winedriver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/status"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/test/wine/winenode"
	"github.com/winbake/winbake/test/wine/winenode/answer"
)

// Case is a driver beside a csi-proxy, or without one.
type Case struct {
	Driver      string // by the catalog's name
	Exe         string
	HostProcess bool
	// Proxy is csi-proxy's program, ProxyVersion the catalog's name of it; "" for none.
	Proxy, ProxyVersion string
	UnixSocket          string // the program of test/wine/winedriver/unixsocket
}

// Outcome is what happened: a row of the catalog without what the case says.
type Outcome struct {
	catalog.Execution
	Name          string   // that GetPluginInfo gave
	Served        []string // csi-proxy's pipes
	Error         string   // of the first call that failed; "" for none
	Log, ProxyLog string
	// Unexpected are PowerShell's calls that it wasn't played to answer.
	Unexpected []string
}

// callTime bounds a call: a driver tries some for minutes.
const callTime = 100 * time.Second

// Run plays the kubelet until a call fails. An error means that nothing could be
// seen.
func Run(ctx context.Context, n *winenode.Node, c Case) (o Outcome, err error) {
	d, proxy, address, err := begin(ctx, n, c)
	if proxy != nil {
		defer func() { o.Served, o.Asked, err = proxy.Served(), proxy.Asked(), errors.Join(err, proxy.Close()) }()
	}
	if err != nil {
		return o, err
	}
	err = o.ask(ctx, d, address, kinds[c.Driver].volume.steps())
	o.Log, o.Pipes = d.Log(), d.Dialed()
	calls, callsErr := n.PowerShellCalls()
	for _, call := range calls {
		if !call.Expected {
			o.Unexpected = append(o.Unexpected, strings.Join(call.Args, " "))
		}
	}
	return o, errors.Join(err, d.Close(), callsErr)
}

// begin starts the driver, and csi-proxy first, which is nil where there is none.
func begin(ctx context.Context, n *winenode.Node, c Case) (d, proxy *Running, address string, err error) {
	k := kinds[c.Driver]
	if err := errors.Join(prepare(n), n.Answers(k.powerShell()...)); err != nil {
		return nil, nil, "", err
	}
	if c.Proxy != "" {
		if proxy, err = StartProxy(ctx, n.Prefix, c.Proxy); err != nil {
			return nil, nil, "", err
		}
	}
	metadata, stop, err := playMetadata()
	if err != nil {
		return nil, proxy, "", err
	}
	context.AfterFunc(ctx, stop)
	if address, err = Address(); err != nil {
		return nil, proxy, "", err
	}
	p := Program{Exe: c.Exe, Args: k.args(address), Env: append(k.env(address), "GCE_METADATA_HOST="+metadata, "AWS_EC2_METADATA_SERVICE_ENDPOINT=http://"+metadata)}
	if c.HostProcess {
		p.Args = append(p.Args, k.hostProcess...)
	}
	if k.unixSocket {
		_, port, _ := net.SplitHostPort(address)
		p.UnixSocket, p.Listen, p.Connect = c.UnixSocket, port, port
	}
	d, err = Start(ctx, n.Prefix, p)
	return d, proxy, address, err
}

// ask makes the calls until one fails.
func (o *Outcome) ask(ctx context.Context, d *Running, address string, steps []step) error {
	client, err := d.Client(address)
	if err != nil {
		return err
	}
	for _, s := range steps {
		limited, cancel := context.WithTimeout(ctx, callTime)
		answer, err := client.Call(limited, "/csi.v1."+s.service+"/"+s.method, s.request)
		cancel()
		if err != nil {
			o.Failed, o.Error = s.method, said(err)
			return ctx.Err()
		}
		if s.method == "GetPluginInfo" {
			o.Name, o.Version = strings.Join(answer[1], ""), strings.TrimPrefix(strings.Join(answer[2], ""), "v")
		}
	}
	return nil
}

// said is an error's own words.
func said(err error) string {
	if s, ok := status.FromError(err); ok && !errors.Is(err, ErrEnded) {
		return fmt.Sprintf("%s: %s", s.Code(), s.Message())
	}
	return err.Error()
}

// prepare makes the folders that the kubelet makes, without what an earlier run has
// left, and plays wmic by PowerShell's double.
func prepare(n *winenode.Node) error {
	calls, err := n.Path(answer.CallFile)
	if err != nil {
		return err
	}
	if err := os.Remove(calls); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	system := filepath.Join(n.C(), "windows", "system32")
	if err := errors.Join(os.RemoveAll(filepath.Join(n.C(), "var")), n.Replace(filepath.Join(system, "WindowsPowerShell", "v1.0", "powershell.exe"), `C:\windows\system32\wbem\wmic.exe`)); err != nil {
		return err
	}
	for _, folder := range []string{staging, target[:strings.LastIndex(target, `\`)]} {
		path, err := n.Path(folder)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// StartProxy starts a csi-proxy, a file of the host, and waits for its last pipe.
func StartProxy(ctx context.Context, prefix, exe string) (*Running, error) {
	p, err := Start(ctx, prefix, Program{Exe: exe, Args: []string{"-v=5"}})
	if err != nil {
		return nil, err
	}
	// A client of a dead csi-proxy may hold its pipes for a moment, and a new one then
	// ends.
	for last := "volume-v1beta1"; !slices.Contains(p.Served(), last); {
		select {
		case ended := <-p.done:
			p.done <- ended
			return nil, fmt.Errorf("csi-proxy: %w: %w\n%s", ErrEnded, ended, p.Log())
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), p.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return p, nil
}
