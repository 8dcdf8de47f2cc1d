//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"golang.org/x/crypto/ssh"

	"github.com/winbake/winbake/test/wine/winenode"
)

// winrm is the WinRM service of a Wine node (WS-Management, [MS-WSMV]): a
// command that it's sent runs on the node. Packer moves files by PowerShell;
// those few scripts of its own are carried out here.
type winrm struct {
	t    testing.TB
	node *winenode.Node
	ssh  *ssh.Client

	mu       sync.Mutex
	commands map[string]*command
	chunks   map[string]*bytes.Buffer // %TEMP%, by file name
	uploaded int                      // bytes
}

// command is one that was started.
type command struct {
	done     chan struct{}
	out, err bytes.Buffer
	code     int
}

// serveWinRM puts a WinRM service with TLS before a node, at port 5986 of an
// address: what templates connect to.
func serveWinRM(t testing.TB, n *winenode.Node, address string) *winrm {
	t.Helper()
	client, err := ssh.Dial("tcp", n.Addr, &ssh.ClientConfig{
		User: n.User, Auth: []ssh.AuthMethod{ssh.Password(n.Password)}, HostKeyCallback: ssh.InsecureIgnoreHostKey(), //nolint:gosec // a node of this process
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	w := &winrm{t: t, node: n, ssh: client, commands: map[string]*command{}, chunks: map[string]*bytes.Buffer{}}
	server := httptest.NewUnstartedServer(w)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if server.Listener, err = net.Listen("tcp", address+":5986"); err != nil {
		t.Fatal(err)
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return w
}

// envelope is what is read of a request.
type envelope struct {
	Action  string `xml:"Header>Action"`
	Command string `xml:"Body>CommandLine>Command"`
	Receive struct {
		CommandID string `xml:"CommandId,attr"`
	} `xml:"Body>Receive>DesiredStream"`
}

// answer is an answer's frame: the action, then the body.
const answer = `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:rsp="http://schemas.microsoft.com/wbem/wsman/1/windows/shell">
<s:Header><a:Action>%sResponse</a:Action></s:Header><s:Body>%s</s:Body></s:Envelope>`

// ServeHTTP is http.Handler's.
func (w *winrm) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if user != w.node.User || password != w.node.Password {
		rw.WriteHeader(http.StatusUnauthorized)
		return
	}
	var e envelope
	data, err := io.ReadAll(r.Body)
	if err == nil {
		err = xml.Unmarshal(data, &e)
	}
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	body := ""
	switch {
	case strings.HasSuffix(e.Action, "transfer/Create"):
		body = "<rsp:ShellId>1</rsp:ShellId>"
	case strings.HasSuffix(e.Action, "shell/Command"):
		body = "<rsp:CommandId>" + w.start(e.Command) + "</rsp:CommandId>"
	case strings.HasSuffix(e.Action, "shell/Receive"):
		body = w.receive(e.Receive.CommandID)
	}
	rw.Header().Set("Content-Type", "application/soap+xml;charset=UTF-8")
	fmt.Fprintf(rw, answer, e.Action, body)
}

func (w *winrm) start(line string) string {
	c := &command{done: make(chan struct{})}
	w.mu.Lock()
	id := strconv.Itoa(len(w.commands) + 1)
	w.commands[id] = c
	w.mu.Unlock()
	go func() {
		defer close(c.done)
		c.code = w.run(c, line)
	}()
	return id
}

// receive waits for a command's end and has all of its output.
func (w *winrm) receive(id string) string {
	w.mu.Lock()
	c := w.commands[id]
	w.mu.Unlock()
	if c == nil {
		return ""
	}
	<-c.done
	text := func(b *bytes.Buffer) string { return base64.StdEncoding.EncodeToString(b.Bytes()) }
	return fmt.Sprintf(`<rsp:ReceiveResponse><rsp:Stream Name="stdout" CommandId="%[1]s">%[2]s</rsp:Stream><rsp:Stream Name="stderr" CommandId="%[1]s">%[3]s</rsp:Stream>`+
		`<rsp:CommandState CommandId="%[1]s" State="http://schemas.microsoft.com/wbem/wsman/1/windows/shell/CommandState/Done"><rsp:ExitCode>%[4]d</rsp:ExitCode></rsp:CommandState></rsp:ReceiveResponse>`,
		id, text(&c.out), text(&c.err), c.code)
}

var (
	chunk    = regexp.MustCompile(`^echo (\S*) >> "%TEMP%\\([^"]+)"$`)
	encoded  = regexp.MustCompile(`(?i)^powershell\.exe -EncodedCommand (\S+)$`)
	restore  = regexp.MustCompile(`(?s)GetFullPath\("\$env:TEMP\\([^"]+)"\).*GetFullPath\("([^"]+)"`)
	download = regexp.MustCompile(`ReadAllBytes\("([^"]+)"\)`)
)

// run carries out a command line and returns its exit code.
func (w *winrm) run(c *command, line string) int {
	if m := chunk.FindStringSubmatch(line); m != nil {
		return w.failed(c, w.take(m[2], m[1]))
	}
	if m := encoded.FindStringSubmatch(line); m != nil {
		script := decode(m[1])
		restored, read := restore.FindStringSubmatch(script), download.FindStringSubmatch(script)
		switch {
		case restored != nil:
			return w.failed(c, w.restore(restored[1], strings.Trim(restored[2], "'")))
		case read != nil:
			return w.failed(c, w.read(c, read[1]))
		case strings.Contains(script, "WinRM connected."):
			fmt.Fprint(&c.out, "WinRM connected.\r\n")
			return 0
		case strings.Contains(script, "winrmcp-"): // the chunks' removal
			return 0
		}
	}
	return w.onNode(c, line)
}

func (w *winrm) failed(c *command, err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(&c.err, err)
	return 1
}

// take appends to a file of chunks.
func (w *winrm) take(name, data string) error {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.chunks[name] == nil {
		w.chunks[name] = new(bytes.Buffer)
	}
	w.uploaded += len(raw)
	_, err = w.chunks[name].Write(raw)
	return err
}

// restore makes a file on the node of its chunks.
func (w *winrm) restore(name, windows string) error {
	path, err := w.node.Path(windows)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var data []byte
	if b := w.chunks[name]; b != nil {
		data = b.Bytes()
	}
	delete(w.chunks, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	w.node.Uploaded(windows)
	return os.WriteFile(path, data, 0o755)
}

// read prints a file of the node.
func (w *winrm) read(c *command, windows string) error {
	path, err := w.node.Path(windows)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err == nil {
		fmt.Fprintln(&c.out, base64.StdEncoding.EncodeToString(data))
	}
	return err
}

// onNode runs a command line on the node.
func (w *winrm) onNode(c *command, line string) int {
	s, err := w.ssh.NewSession()
	if err != nil {
		return w.failed(c, err)
	}
	defer s.Close()
	s.Stdout, s.Stderr = &c.out, &c.err
	err = s.Run(line)
	if exit, ok := err.(*ssh.ExitError); ok { //nolint:errorlint // as package ssh returns it
		return exit.ExitStatus()
	}
	return w.failed(c, err)
}

// decode is PowerShell's -EncodedCommand.
func decode(s string) string {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

// TestImageOverWinRM: the same image where Packer comes in by WinRM. The node's
// files come from Packer's HTTP server, as WinRM takes minutes for a megabyte.
func TestImageOverWinRM(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.2"
	b, v := templatedIn(t, setting{platform: "vsphere-clone", address: address})
	b.vars["communicator"] = "winrm"
	for _, name := range []string{"curl.exe", "certutil.exe"} {
		b.node.Put(t, filepath.Join(tools(t).dir, "fetch.exe"), b.node.Home()+`\`+name)
	}
	w := serveWinRM(t, b.node, address)
	out := b.must()
	b.image(v, out)
	// Scripts, requests and the manifest.
	if w.uploaded > 1<<20 {
		t.Errorf("%d bytes went over WinRM\n%s", w.uploaded, out)
	}
}
