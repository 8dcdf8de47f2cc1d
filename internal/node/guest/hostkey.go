package guest

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
)

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
				Fix: fmt.Sprintf("if the machine was made anew, and only then: ssh-keygen -R %q -f %s", knownhosts.Normalize(h.addr), bad.Want[0].Filename), Err: err}
		}
		return &fault.Error{Where: t.String(), What: "the machine's key isn't known: it shows " + seen,
			Fix: "compare that with the machine's own, then: " + way.learn(), Err: err}
	}
}
