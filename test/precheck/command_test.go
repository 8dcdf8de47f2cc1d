package precheck_test

import (
	"bufio"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/winbake/winbake/test/apiserver"
	"github.com/winbake/winbake/test/program"
)

// built is verify as docs/precheck.md builds it for an image, and bake.
var built = program.Folder{Commands: []string{"verify", "bake"}, Env: []string{"CGO_ENABLED=0"}}

func TestMain(m *testing.M) { built.Main(m) }

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return built.Command(t, "verify", args...)
}

// running is a `verify skew precheck` that serves.
type running struct {
	*exec.Cmd
	url   string
	mu    sync.Mutex
	lines []string
	read  chan struct{} // closed at the end of standard error
}

var address = regexp.MustCompile(`serving on (127\.0\.0\.1:\d+)`)

// run starts it and waits for its address.
func run(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{Cmd: command(t, args...), read: make(chan struct{})}
	stderr, err := r.StderrPipe()
	must(t, err)
	must(t, r.Start())
	t.Cleanup(func() { _ = r.Process.Kill() }) // it may have ended
	found := make(chan string, 1)
	go func() {
		defer close(r.read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			r.mu.Lock()
			r.lines = append(r.lines, lines.Text())
			r.mu.Unlock()
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
		close(found)
	}()
	at, ok := <-found
	if !ok {
		t.Fatalf("it doesn't serve:\n%s", r.log())
	}
	r.url = "http://" + at
	return r
}

func (r *running) log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

// stop ends it as Kubernetes does.
func (r *running) stop(t *testing.T) {
	t.Helper()
	must(t, r.Process.Signal(syscall.SIGTERM))
	<-r.read
	if err := r.Wait(); err != nil {
		t.Errorf("it ends with %v\n%s", err, r.log())
	}
	if strings.Contains(r.log(), ".go:") {
		t.Errorf("a library logs:\n%s", r.log())
	}
}

// testStop: it ends at once with 0, in the middle of an evaluation too.
func testStop(t *testing.T, s *apiserver.Server) {
	config := s.WriteKubeconfig(t, account(t, s))
	s.Pause()
	defer s.Resume()
	c := run(t, "skew", "precheck", "--listen", "127.0.0.1:0", "--kubeconfig", config)
	if code, _ := get(t, c.url+"/readyz"); code != 503 {
		t.Errorf("/readyz is %d before the first evaluation", code)
	}
	c.stop(t)
}

// testTargets: releases that are named take the place of those that are offered,
// each once; one that the cluster is past can't be judged.
func testTargets(t *testing.T, s *apiserver.Server) {
	c := run(t, "skew", "precheck", "--listen", "127.0.0.1:0", "--to", "4.20", "--to", "4.18.1", "--to", "4.20", "--to", "4.19.14",
		"--accept", "HP005", "--kubeconfig", s.WriteKubeconfig(t, account(t, s)))
	awaitVerdict(t, c.url, map[string]string{"4.20": "0", "4.18.1": unknown, "4.19.14": "0"})
	c.stop(t)
}

func TestRefused(t *testing.T) {
	taken := run(t, "skew", "precheck", "--listen", "127.0.0.1:0", "--server", "https://127.0.0.1:1")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an address in use": {[]string{"--listen", strings.TrimPrefix(taken.url, "http://"), "--server", "https://127.0.0.1:1"}, "can't listen"},
		"no address":        {[]string{"--listen", "8080", "--server", "https://127.0.0.1:1"}, "--listen :8080"},
		"no cluster":        {nil, "no cluster is given"},
		"no interval":       {[]string{"--interval", "0s"}, "--interval can't be 0s"},
		"no release":        {[]string{"--to", "next"}, "4.20 or 4.20.3"},
		"stale too soon":    {[]string{"--stale-after", "1m"}, "--stale-after=30m0s"},
		"no rule":           {[]string{"--accept", "SKEW999"}, "there is no rule SKEW999"},
		"a report":          {[]string{"-o", "json"}, "unknown shorthand flag: 'o' in -o\nfix: verify skew precheck --help"},
		"a path":            {[]string{"cluster/"}, "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, append([]string{"skew", "precheck"}, c.args...)...)
			out, err := cmd.CombinedOutput()
			if err == nil || cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), c.want) || strings.Contains(string(out), ".go:") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	taken.stop(t)
}
