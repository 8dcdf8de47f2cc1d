package apiserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// process is a server that runs beside the test.
type process struct {
	name string
	log  string
	cmd  *exec.Cmd
	// ended is closed once the process has ended, with err.
	ended chan struct{}
	err   error
}

// launch starts a program that writes its log below dir. It dies with the
// test's own process, however that ends.
func launch(dir, program string, args ...string) (*process, error) {
	p := &process{name: filepath.Base(program), ended: make(chan struct{})}
	p.log = filepath.Join(dir, p.name+".log")
	out, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	// Collecting garbage less often saves a server a sixth of its time.
	p.cmd.Env = append(os.Environ(), "GOGC=400")
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// kill ends the process at once: what it keeps on disk is thrown away.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// pause returns when the process has stopped: SIGSTOP is sent and not done when
// kill returns, and a thread on another core may answer one more request.
func (p *process) pause() {
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	for errors.Is(unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	// Taken, so that the next pause doesn't see this one.
	_ = unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOHANG, nil)
}

func (p *process) resume() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// failure words the end of a process that should be running.
func (p *process) failure() error {
	return fmt.Errorf("%s ended: %w\n%s", p.name, errors.Join(p.err), p.tail())
}

// tail is the end of the log.
func (p *process) tail() []byte {
	const most = 4 << 10
	log, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(log[max(0, len(log)-most):])
}

func (p *process) says(text string) bool {
	log, err := os.ReadFile(p.log)
	return err == nil && bytes.Contains(log, []byte(text))
}
