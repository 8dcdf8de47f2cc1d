package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/wine/winenode"
)

// password is the administrator's of the lab's machines. Nobody else can reach
// them.
const password = "Korrekt-Pferd-Batterie-7"

// home is where plugins stay from one command to the next.
const home = "_output/lab"

// lab is a vCenter with what a build in it needs.
type lab struct {
	server *vcenter.Server
	stop   func() error // ends the node
	temp   string
}

// open starts one and puts it into this program's environment. What it returns
// is to be closed also after an error.
func open(ctx context.Context) (*lab, error) {
	l := &lab{stop: func() error { return nil }}
	var err error
	if l.temp, err = os.MkdirTemp("", "winbake-lab-"); err != nil {
		return l, err
	}
	var node *winenode.Node
	if node, l.stop, err = winenode.Run(ctx, winenode.Options{}); err != nil {
		return l, fmt.Errorf("start a Wine node: %w", err)
	}
	node.Password = password
	if err := node.Answers(vcenter.Scripts...); err != nil {
		return l, err
	}
	shutdown, err := vcenter.BuildShutdown(ctx, l.temp)
	if err != nil {
		return l, err
	}
	guest, err := vcenter.NewGuest(node, shutdown)
	if err != nil {
		return l, err
	}
	if l.server, err = vcenter.Start(ctx, guest); err != nil {
		return l, err
	}
	if err := l.values(node); err != nil {
		return l, err
	}
	return l, tools(ctx)
}

// values are what the templates for vSphere ask for, where the environment
// doesn't have it already.
func (l *lab) values(node *winenode.Node) error {
	key := filepath.Join(l.temp, "key.pub")
	if err := os.WriteFile(key, []byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPxk someone@example.com\n"), 0o600); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(node.Addr)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"vcenter_server": l.server.Addr, "vcenter_username": vcenter.User, "vcenter_password": vcenter.Password, "vcenter_insecure": "true",
		"datacenter": vcenter.Datacenter, "host": vcenter.Host, "datastore": vcenter.Datastore, "network": vcenter.Network,
		"template": vcenter.Original, "iso_path": "[" + vcenter.Datastore + "] windows.iso", "boot_command": "[]", // it types no keys
		"admin_password": password, "authorized_keys_file": key, "ssh_port": port, "connect_timeout": "3m", "ip_settle_timeout": "1s",
		"accept": vcenter.AcceptImage(),
	} {
		if os.Getenv("PKR_VAR_"+name) != "" {
			continue
		}
		if err := os.Setenv("PKR_VAR_"+name, value); err != nil {
			return err
		}
	}
	return nil
}

// tools puts Packer before everything else on PATH and gives it vSphere's
// plugin.
func tools(ctx context.Context) error {
	dir, err := filepath.Abs(home)
	if err != nil {
		return err
	}
	tool, err := packer.Packers[0].Build(ctx)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"PATH":               filepath.Dir(tool) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"CHECKPOINT_DISABLE": "1", "PACKER_PLUGIN_PATH": filepath.Join(dir, "plugins"), "PACKER_CONFIG_DIR": dir, "PACKER_CACHE_DIR": filepath.Join(dir, "cache"),
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	plugin := packer.Plugin("vsphere")
	binary, err := plugin.Build(ctx)
	if err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, tool, "plugins", "install", "--path", binary, plugin.Source).CombinedOutput(); err != nil {
		return fmt.Errorf("install vSphere's plugin: %w\n%s", err, out)
	}
	return nil
}

// notRun is what the lab says that it hasn't shown.
const notRun = "not run here: PowerShell (its scripts were parsed), Windows Setup, Windows Update, sysprep, and the first boot of a clone"

// report says what vCenter has at the end beside the machine that builds clone. A
// machine that was built and isn't a template hasn't been looked at yet.
func (l *lab) report(w io.Writer) error {
	all, err := l.server.Machines(context.Background())
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m vcenter.Machine) bool { return m.Name == vcenter.Original })
	for _, m := range all {
		what := "a template"
		if !m.Template {
			what = "a machine"
			if said := l.server.Broken(); len(said) > 0 {
				return fmt.Errorf("%s isn't what a node needs:\n%s", m.Name, strings.Join(said, "\n"))
			}
		}
		if _, err := fmt.Fprintf(w, "lab: vCenter has %s, %s\n", m.Name, what); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err = fmt.Fprintf(w, "lab: %s\n", notRun)
	return err
}

func (l *lab) close() error {
	if l.server != nil {
		l.server.Close()
	}
	return errors.Join(l.stop(), os.RemoveAll(l.temp))
}
