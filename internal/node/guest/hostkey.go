package guest

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/infile"
)

// hostKeys checks the machine's key against known_hosts files. There is no
// way around it: what is sent to the wrong machine runs there as its
// administrator.
type hostKeys struct {
	files []string
	check ssh.HostKeyCallback
}

func newHostKeys(files []string) (*hostKeys, error) {
	if len(files) == 0 {
		files = []string{"/etc/ssh/ssh_known_hosts"}
		if home, err := os.UserHomeDir(); err == nil {
			files = append([]string{filepath.Join(home, ".ssh", "known_hosts")}, files...)
		}
		files = slices.DeleteFunc(files, func(f string) bool { _, err := os.Stat(f); return err != nil })
	}
	h := &hostKeys{files: files}
	if len(files) == 0 {
		h.check = func(string, net.Addr, ssh.PublicKey) error { return &knownhosts.KeyError{} }
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
		h.check, err = knownhosts.New(files...)
	}
	if err != nil {
		return nil, &fault.Error{What: "the known hosts can't be read: " + err.Error(), Fix: "--known-hosts FILE", Err: err}
	}
	return h, nil
}

// algorithms asks the machine for a key of a type that is known: it may have
// several, of which known_hosts holds one.
func (h *hostKeys) algorithms(addr string) []string {
	probe, err := ssh.NewPublicKey(ed25519.PublicKey(make([]byte, ed25519.PublicKeySize)))
	if err != nil {
		return nil
	}
	bad, ok := errors.AsType[*knownhosts.KeyError](h.check(addr, &net.TCPAddr{IP: net.IPv4zero}, probe))
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
func (h *hostKeys) callback(t Target) ssh.HostKeyCallback {
	return func(addr string, remote net.Addr, key ssh.PublicKey) error {
		err := h.check(addr, remote, key)
		if err == nil {
			return nil
		}
		seen := fmt.Sprintf("%s %s", key.Type(), ssh.FingerprintSHA256(key))
		if revoked, ok := errors.AsType[*knownhosts.RevokedError](err); ok {
			return &fault.Error{Where: t.String(), What: "the machine's key is revoked: " + seen, Fix: fmt.Sprintf("see %s:%d", revoked.Revoked.Filename, revoked.Revoked.Line), Err: err}
		}
		if bad, ok := errors.AsType[*knownhosts.KeyError](err); ok && len(bad.Want) > 0 {
			return &fault.Error{Where: t.String(), What: fmt.Sprintf("the machine's key isn't the known one: it shows %s, and %s:%d has another", seen, bad.Want[0].Filename, bad.Want[0].Line),
				Fix: fmt.Sprintf("if the machine was made anew, and only then: ssh-keygen -R %q -f %s", knownhosts.Normalize(addr), bad.Want[0].Filename), Err: err}
		}
		return &fault.Error{Where: t.String(), What: "the machine's key isn't known: it shows " + seen,
			Fix: fmt.Sprintf("compare that with the machine's own, then: ssh-keyscan -p %d %s >> ~/.ssh/known_hosts", t.Port, t.Host), Err: err}
	}
}
