package guest

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// bastion is a real sshd, which lets one key in. It returns an ssh_config with
// which node-1 is reached through it.
func bastion(t *testing.T, node Target, key string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/host_key")
	write("authorized_keys", run("ssh-keygen", "-y", "-f", key)+"\n")
	write("sshd_config", "HostKey "+dir+"/host_key\nAuthorizedKeysFile "+dir+"/authorized_keys\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n")
	host, port, err := net.SplitHostPort(serveSSHD(t, dir+"/sshd_config"))
	if err != nil {
		t.Fatal(err)
	}
	write("known_hosts", "["+host+"]:"+port+" "+run("ssh-keygen", "-y", "-f", dir+"/host_key")+"\n")
	return writeConfig(t, "Host bastion\n  HostName "+host+"\n  Port "+port+"\n  User "+localUser()+"\n  IdentityFile "+key+"\n  IdentitiesOnly yes\n  UserKnownHostsFile "+dir+"/known_hosts\n"+
		"Host node-1 nobody two chain\n  HostName "+node.Host+"\nHost node-1 nobody\n  ProxyJump bastion\nHost nobody\n  Port 1\n"+
		"Host two\n  ProxyJump bastion,"+localUser()+"@["+host+"]:"+port+"\nHost chain\n  ProxyJump inner\n"+
		"Host inner "+host+"\n  HostName "+host+"\n  Port "+port+"\n  User "+localUser()+"\n  IdentityFile "+key+"\n  IdentitiesOnly yes\n  UserKnownHostsFile "+dir+"/known_hosts\nHost inner\n  ProxyJump bastion\n")
}

// serveSSHD gives each connection to an sshd of its own, as inetd does.
func serveSSHD(t *testing.T, config string) string {
	t.Helper()
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil && os.Geteuid() == 0 {
		t.Fatal(err) // root's sshd changes to it
	}
	return serve(t, "tcp", "127.0.0.1:0", func(conn net.Conn) {
		file, err := conn.(*net.TCPConn).File()
		if err != nil {
			t.Error(err)
			return
		}
		cmd := exec.CommandContext(t.Context(), "/usr/sbin/sshd", "-i", "-f", config)
		cmd.Stdin, cmd.Stdout = file, file
		if err := cmd.Start(); err != nil {
			t.Error(err)
		}
		_, _ = file.Close(), conn.Close()
		_ = cmd.Wait()
	})
}

// TestBastion: a node is reached through a real sshd, whose key is checked,
// too.
func TestBastion(t *testing.T) {
	key, signer := newKey(t)
	node, known := serveSSH(t, signer.PublicKey())
	file := filepath.Join(t.TempDir(), "key")
	writeKey(t, file, key, "")
	config := bastion(t, node, file)
	o := Options{KnownHosts: []string{known}, Identities: []string{file}, Config: config}
	for name, c := range map[string]struct {
		target string
		change func(config string) string
		want   string
	}{
		"reached":        {target: "node-1:" + strconv.Itoa(node.Port)},
		"through two":    {target: "two:" + strconv.Itoa(node.Port)},
		"one by one":     {target: "chain:" + strconv.Itoa(node.Port)},
		"nobody listens": {target: "nobody", want: "open failed"},
		"no such login":  {target: "node-1", change: func(s string) string { return strings.Replace(s, file, file+".none", 1) }, want: "Permission denied"},
		"bastion's key":  {target: "node-1", change: func(s string) string { return strings.Replace(s, "/known_hosts", "/authorized_keys", 1) }, want: "Host key verification failed"},
		"bastion isn't":  {target: "node-1", change: func(s string) string { return strings.Replace(s, "ProxyJump bastion", "ProxyJump 127.0.0.1:1", 1) }, want: "Connection refused"},
		"a command": {target: "node-1:" + strconv.Itoa(node.Port), change: func(s string) string {
			return strings.Replace(s, "ProxyJump bastion", "ProxyCommand ssh -F "+config+" -W %h:%p bastion", 1)
		}},
		"a command that isn": {target: "node-1", change: func(s string) string { return strings.Replace(s, "ProxyJump bastion", "ProxyCommand nosuch %h", 1) }, want: "nosuch"},
	} {
		t.Run(name, func(t *testing.T) {
			o := o
			if c.change != nil {
				text, err := os.ReadFile(config)
				if err != nil {
					t.Fatal(err)
				}
				o.Config = writeConfig(t, c.change(string(text)))
			}
			target, err := ParseTarget("Administrator@" + c.target)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Dial(t.Context(), target, o)
			if err == nil {
				_ = s.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v", err)
			}
		})
	}
	other := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(other, []byte("["+node.Host+"]:"+strconv.Itoa(node.Port)+" "+string(ssh.MarshalAuthorizedKey(mustSigner(t).PublicKey()))), 0o600); err != nil {
		t.Fatal(err)
	}
	o.KnownHosts = []string{other}
	if _, err := Dial(t.Context(), Target{"Administrator", "node-1", node.Port}, o); err == nil || !strings.Contains(err.Error(), "isn't the known one") {
		t.Errorf("the node's key isn't checked behind a bastion: %v", err)
	}
}

// TestSilentMachine: of a machine that takes the connection and says nothing.
func TestSilentMachine(t *testing.T) {
	conn, other := net.Pipe()
	defer other.Close()
	if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := ssh.NewClientConn(conn, "node", &ssh.ClientConfig{HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	if err = handshakeFault(route{target: Target{"a", "node", 22}}, conn, nil, err); !strings.Contains(err.Error(), "a@node: the machine says nothing") {
		t.Errorf("%v", err)
	}
}

// TestLongTrouble: ssh on each host of a long way says that its connection ended, and
// the first of them why.
func TestLongTrouble(t *testing.T) {
	config := writeConfig(t, "Host node\n  ProxyCommand sh -c 'echo no such host >&2; for i in 1 2 3 4 5 6 7 8 9 a b c d e f; do echo closed $i >&2; done'\n")
	_, err := Dial(t.Context(), Target{User: "a", Host: "node"}, Options{Config: config, KnownHosts: []string{os.DevNull}})
	if err == nil || !strings.Contains(err.Error(), "no such host\nclosed 1\n") || strings.Count(err.Error(), "\nclosed ") != 14 {
		t.Errorf("%v", err)
	}
}

// TestConnectionThatEnds: netcat closes its output where the machine closes the
// connection, and goes on until its input ends.
func TestConnectionThatEnds(t *testing.T) {
	config := writeConfig(t, "Host node\n  ProxyCommand sh -c 'exec >&-; cat >/dev/null'\n")
	_, err := Dial(t.Context(), Target{User: "a", Host: "node"}, Options{Config: config, KnownHosts: []string{os.DevNull}})
	if err == nil || !strings.Contains(err.Error(), "handshake failed: ") || strings.Contains(err.Error(), "says nothing") {
		t.Errorf("%v", err)
	}
}

// TestCommandThatNeverEnds: of a machine that logs in, takes the command and its files
// and goes on answering keepalives. The end of the context ends what waits for it.
func TestCommandThatNeverEnds(t *testing.T) {
	key, signer := newKey(t)
	target, known := serveSSH(t, signer.PublicKey())
	file := filepath.Join(t.TempDir(), "key")
	writeKey(t, file, key, "")
	for name, work := range map[string]func(context.Context, *SSH) error{
		"a command": func(ctx context.Context, s *SSH) error {
			_, err := s.Run(ctx, "verify.exe agent facts", io.Discard, io.Discard)
			return err
		},
		"a file": func(ctx context.Context, s *SSH) error { return s.Put(ctx, "a", strings.NewReader("a")) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s, err := Dial(ctx, target, Options{KnownHosts: []string{known}, Identities: []string{file}, Config: "none"})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, cancel)
		if err := work(ctx, s); err == nil || ctx.Err() == nil {
			t.Errorf("%s ends with %v, before its time", name, err)
		}
		_ = s.Close()
	}
}

func mustSigner(t *testing.T) ssh.Signer {
	_, s := newKey(t)
	return s
}
