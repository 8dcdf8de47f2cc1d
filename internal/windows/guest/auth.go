package guest

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// credentials are the keys to log in with, and why some that were found can't
// be used.
type credentials struct {
	warn   func(file, what string)
	agent  agent.Agent // nil for none
	keys   []ssh.Signer
	unused []string
	close  func()
}

// methods is one method with all keys, the agent's first: of two methods of one
// name the client tries the first alone
// (https://pkg.go.dev/golang.org/x/crypto/ssh#ClientConfig, Auth).
func (c *credentials) methods() []ssh.AuthMethod {
	if c.agent == nil && len(c.keys) == 0 {
		return nil
	}
	return []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
		if c.agent == nil {
			return c.keys, nil
		}
		held, err := c.agent.Signers()
		if err != nil {
			c.unused = append(c.unused, "the agent of SSH_AUTH_SOCK doesn't give its keys")
		}
		return append(held, c.keys...), nil
	})}
}

// defaultKeys are the files that ssh looks for.
var defaultKeys = []string{"id_ed25519", "id_ecdsa", "id_rsa"}

// findKeys takes the named key files, or else the agent's keys, those that
// ssh's configuration names and those in ~/.ssh.
func findKeys(named []string, way route, warn func(file, what string)) (*credentials, error) {
	c := &credentials{warn: warn, close: func() {}}
	if len(named) > 0 {
		return c, c.addFiles(named, true)
	}
	if socket := os.Getenv("SSH_AUTH_SOCK"); socket != "" && !way.onlyThese {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			c.unused = append(c.unused, "the agent of SSH_AUTH_SOCK doesn't answer")
		} else {
			c.close = func() { _ = conn.Close() }
			c.agent = agent.NewClient(conn)
		}
	}
	files := way.identities
	if home, err := os.UserHomeDir(); err == nil {
		for _, name := range defaultKeys {
			if f := filepath.Join(home, ".ssh", name); !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	if err := c.addFiles(files, false); err != nil {
		return nil, err
	}
	return c, nil
}

// addFiles reads key files; those that must be there fail when they aren't.
func (c *credentials) addFiles(files []string, must bool) error {
	for _, f := range files {
		data, err := infile.Read(f, infile.Text)
		if errors.Is(err, fs.ErrNotExist) && !must {
			continue
		}
		if err != nil {
			return &fault.Error{Where: f, What: "the key can't be read: " + err.Error(), Fix: "--identity FILE", Err: err}
		}
		s, err := ssh.ParsePrivateKey(data)
		_, locked := errors.AsType[*ssh.PassphraseMissingError](err)
		switch {
		case err == nil:
			c.keys = append(c.keys, s)
			c.readable(f)
		case locked && !must:
			c.unused = append(c.unused, f+" has a passphrase (ssh-add "+f+")")
		case locked:
			return &fault.Error{Where: f, What: "the key has a passphrase", Fix: "ssh-add " + f + ", and leave --identity out", Err: err}
		case must:
			return &fault.Error{Where: f, What: "that isn't a private key: " + err.Error(), Fix: "--identity FILE", Err: err}
		}
	}
	return nil
}

// readable warns of a key that everybody on this machine can read. A mounted
// Secret is such, unless its volume says otherwise.
func (c *credentials) readable(file string) {
	info, err := os.Stat(file)
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o004 != 0 && c.warn != nil {
		c.warn(file, fmt.Sprintf("everybody on this machine can read this private key (mode %04o): chmod 600 %s, or defaultMode: 0400 where it is a mounted Secret", info.Mode().Perm(), shell.Word(file)))
	}
}

// refused says why a login failed.
func (c *credentials) refused(way route, err error) error {
	what := "the machine refuses the login"
	if c.agent == nil && len(c.keys) == 0 {
		what = "there is no key to log in with"
	}
	if len(c.unused) > 0 {
		what += "; not tried: " + strings.Join(c.unused, ", ")
	}
	return &fault.Error{Where: way.target.String(), What: what,
		Fix: "--identity FILE or ssh-add; an administrator's public key belongs into C:\\ProgramData\\ssh\\administrators_authorized_keys; try: " + way.try(), Err: err}
}

// hostKeys checks the machine's key against known_hosts files. There is no
// way around it: what is sent to the wrong machine runs there as its
// administrator.
type hostKeys struct {
	addr  string // what the files call the machine, with a port
	known ssh.HostKeyCallback
}

func newHostKeys(files []string, way route) (*hostKeys, error) {
	if len(files) == 0 {
		if home, err := os.UserHomeDir(); err == nil {
			files = append(files, filepath.Join(home, ".ssh", "known_hosts"))
		}
		files = append(append(files, way.knownHosts...), "/etc/ssh/ssh_known_hosts")
		slices.Sort(files)
		files = slices.DeleteFunc(slices.Compact(files), func(f string) bool { _, err := os.Stat(f); return err != nil })
	}
	h := &hostKeys{addr: net.JoinHostPort(way.target.Host, strconv.Itoa(way.target.port()))}
	if way.alias != "" {
		h.addr = net.JoinHostPort(way.alias, "22") // an alias is without a port
	}
	if len(files) == 0 {
		h.known = func(string, net.Addr, ssh.PublicKey) error { return &knownhosts.KeyError{} }
		return h, nil
	}
	var err error
	for _, f := range files {
		// /dev/null is what many give ssh for no known hosts.
		if info, statErr := os.Stat(f); statErr == nil && err == nil && f != os.DevNull {
			err = infile.Check(info)
		}
	}
	if err == nil {
		h.known, err = knownhosts.New(files...)
	}
	if err != nil {
		return nil, &fault.Error{What: "the known hosts can't be read: " + err.Error(), Fix: "--known-hosts FILE", Err: err}
	}
	return h, nil
}

// check is by name alone: the address may be a proxy's.
func (h *hostKeys) check(key ssh.PublicKey) error {
	return h.known(h.addr, &net.TCPAddr{IP: net.IPv4zero}, key)
}

// algorithms asks the machine for a key of a type that is known: it may have
// several, of which known_hosts holds one.
func (h *hostKeys) algorithms() []string {
	probe, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil
	}
	bad, ok := errors.AsType[*knownhosts.KeyError](h.check(probe))
	if !ok {
		return nil
	}
	var all []string
	for _, k := range bad.Want {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			all = append(all, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		all = append(all, k.Key.Type())
	}
	return all
}

// callback makes a person's words of what is wrong.
func (h *hostKeys) callback(way route) ssh.HostKeyCallback {
	t := way.target
	return func(_ string, _ net.Addr, key ssh.PublicKey) error {
		err := h.check(key)
		if err == nil {
			return nil
		}
		seen := fmt.Sprintf("%s %s", key.Type(), ssh.FingerprintSHA256(key))
		if revoked, ok := errors.AsType[*knownhosts.RevokedError](err); ok {
			return &fault.Error{Where: t.String(), What: "the machine's key is revoked: " + seen, Fix: fmt.Sprintf("see %s:%d", revoked.Revoked.Filename, revoked.Revoked.Line), Err: err}
		}
		if bad, ok := errors.AsType[*knownhosts.KeyError](err); ok && len(bad.Want) > 0 {
			return &fault.Error{Where: t.String(), What: fmt.Sprintf("the machine's key isn't the known one: it shows %s, and %s:%d has another", seen, bad.Want[0].Filename, bad.Want[0].Line),
				Fix: fmt.Sprintf("if the machine was made again, and only then: ssh-keygen -R %q -f %s", knownhosts.Normalize(h.addr), bad.Want[0].Filename), Err: err}
		}
		return &fault.Error{Where: t.String(), What: "the machine's key isn't known: it shows " + seen,
			Fix: "compare that with the machine's own, then: " + way.learn(), Err: err}
	}
}
