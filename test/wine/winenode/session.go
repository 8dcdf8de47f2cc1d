package winenode

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// session serves one channel: a command, a shell, or SFTP.
func (n *Node) session(ctx context.Context, ch ssh.Channel, requests <-chan *ssh.Request) {
	defer ch.Close() //nolint:errcheck // the client may have gone
	for r := range requests {
		switch r.Type {
		case "exec", "shell", "subsystem":
			what := text(r.Payload)
			ok := r.Type != "subsystem" || what == "sftp"
			_ = r.Reply(ok, nil)
			if !ok {
				continue
			}
			go ssh.DiscardRequests(requests)
			n.answer(ctx, ch, r.Type, what)
			return
		case "pty-req":
			_ = r.Reply(true, nil)
		default: // env: the server of Windows takes none unless it's told to
			_ = r.Reply(false, nil)
		}
	}
}

// text is the string that an exec or subsystem request carries (RFC 4254 6.5).
func text(payload []byte) string {
	var p struct{ Text string }
	if ssh.Unmarshal(payload, &p) != nil {
		return ""
	}
	return strings.TrimRight(p.Text, "\r\n")
}

func (n *Node) answer(ctx context.Context, ch ssh.Channel, kind, what string) {
	status := uint32(0)
	switch kind {
	case "subsystem":
		if n.serveFiles(ch) != nil {
			return // cut off, with no status
		}
	case "shell":
		status = n.execute(ctx, ch)
	default:
		status = n.execute(ctx, ch, what)
	}
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
}

// failed is the exit code of a program that couldn't be started or was cut off.
const failed = 255

// execute runs a command under cmd.exe in the user's folder, and returns its
// exit code.
func (n *Node) execute(ctx context.Context, ch ssh.Channel, command ...string) uint32 {
	home, err := n.Path(n.home)
	if err != nil {
		return failed
	}
	exit := fmt.Sprintf("exit-%d", n.runs.Add(1))
	verb := "run"
	if n.options.NotAdministrator {
		verb = "limited"
	}
	for _, c := range command {
		n.remember(c)
	}
	args := append([]string{`C:\winenode\guest.exe`, verb, `C:\winenode\` + exit}, command...)
	cmd := wineCommand(ctx, n.Prefix, args...)
	cmd.Dir = home
	trouble := &withoutNoise{to: ch.Stderr()}
	defer trouble.flush()
	cmd.Stdout, cmd.Stderr = ch, trouble
	in, err := cmd.StdinPipe()
	if err != nil {
		return failed
	}
	if err := cmd.Start(); err != nil {
		return failed
	}
	go func() {
		_, _ = io.Copy(in, ch)
		_ = in.Close()
	}()
	if cmd.Wait() != nil {
		return failed
	}
	return exitCode(filepath.Join(n.C(), "winenode", exit))
}

// exitCode reads what the guest wrote: Windows' exit codes have 32 bits.
func exitCode(file string) uint32 {
	text, err := os.ReadFile(file)
	_ = os.Remove(file)
	code, err2 := strconv.ParseInt(string(text), 10, 64)
	if err != nil || err2 != nil {
		return failed
	}
	return uint32(code)
}
