package comm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	packersdk "github.com/hashicorp/packer-plugin-sdk/packer"
)

// folder is a communicator to a folder of this machine that knows the few
// commands of cmd.exe which are used. The real ones run in package e2e.
type folder struct {
	packersdk.MockCommunicator
	root string

	mu       sync.Mutex
	sessions int // now
	most     int // of them at once
	opening  int // of them
	together int // opened at once
	commands []string
	// spoil is asked before each command and upload; nil for none.
	spoil func(what string) error
}

// guestHome is where commands run on the machine.
const guestHome = "C:/Users/Some One"

func (f *folder) host(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if !absolute(name) {
		name = guestHome + "/" + name
	}
	return filepath.Join(f.root, name[3:])
}

// open opens a session, while r's first bytes lie in streams on the way here.
func (f *folder) open(r io.Reader) []byte {
	f.mu.Lock()
	f.sessions++
	f.most = max(f.most, f.sessions)
	f.opening++
	f.together = max(f.together, f.opening)
	f.mu.Unlock()
	ahead, _ := io.ReadAll(io.LimitReader(r, 2*(256+32)<<10)) // an error is for its end
	f.mu.Lock()
	f.opening--
	f.mu.Unlock()
	return ahead
}

func (f *folder) end() {
	f.mu.Lock()
	f.sessions--
	f.mu.Unlock()
}

// Start is Communicator's.
func (f *folder) Start(_ context.Context, c *packersdk.RemoteCmd) error {
	f.mu.Lock()
	f.commands = append(f.commands, c.Command)
	f.mu.Unlock()
	f.open(strings.NewReader(""))
	if f.spoil != nil {
		if err := f.spoil(c.Command); err != nil {
			f.end()
			return err
		}
	}
	go func() {
		code := f.command(c)
		f.end()
		c.SetExited(code)
	}()
	return nil
}

func (f *folder) command(c *packersdk.RemoteCmd) int {
	words := strings.Fields(strings.TrimPrefix(c.Command, "cmd /c "))
	last := f.host(words[len(words)-1])
	var err error
	switch words[0] {
	case "cd":
		fmt.Fprintf(c.Stdout, "%s\r\n", strings.ReplaceAll(guestHome, "/", `\`))
	case "mkdir":
		err = os.MkdirAll(last, 0o755)
	case "move":
		err = os.Rename(f.host(words[2]), last)
	case "copy":
		err = join(f, strings.Split(words[3], "+"), last)
	case "del":
		var gone []string
		gone, err = filepath.Glob(last)
		for _, name := range gone {
			err = errors.Join(err, os.Remove(name))
		}
	case "curl.exe":
		err = get(words[len(words)-1], f.host(words[len(words)-2]))
	case "certutil.exe":
		var data []byte
		data, err = os.ReadFile(f.host(words[2]))
		fmt.Fprintf(c.Stdout, "SHA256 hash of file:\r\n%x\r\n", sha256.Sum256(data))
	case "disconnect":
		return packersdk.CmdDisconnect
	case "exit":
		return 7
	default:
		err = errors.New("no such command")
	}
	if err != nil {
		fmt.Fprintln(c.Stderr, err) // it has to be there: over WinRM a command waits for it
		return 1
	}
	return 0
}

func join(f *folder, pieces []string, to string) error {
	var all bytes.Buffer
	for _, p := range pieces {
		data, err := os.ReadFile(f.host(p))
		if err != nil {
			return err
		}
		all.Write(data)
	}
	return os.WriteFile(to, all.Bytes(), 0o600)
}

func get(url, to string) error {
	r, err := http.Get(url) //nolint:gosec // a test's server
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	data, err := io.ReadAll(r.Body)
	return errors.Join(err, os.WriteFile(to, data, 0o600))
}

// Upload is Communicator's. As Packer's, it takes a reader's error for its end.
func (f *folder) Upload(name string, r io.Reader, _ *os.FileInfo) error {
	ahead := f.open(r)
	defer f.end()
	if f.spoil != nil {
		if err := f.spoil(name); err != nil {
			return err
		}
	}
	if !absolute(name) {
		return fmt.Errorf("%s: what it's relative to depends on the communicator", name)
	}
	rest, _ := io.ReadAll(r)
	return os.WriteFile(f.host(name), append(ahead, rest...), 0o600)
}

// Download is Communicator's.
func (f *folder) Download(name string, w io.Writer) error {
	f.open(strings.NewReader(""))
	defer f.end()
	data, err := os.ReadFile(f.host(name))
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
