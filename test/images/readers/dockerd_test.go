//go:build e2e

package readers

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// startDockerd starts a Docker engine with an empty store, which shares nothing
// with another one on the machine, and returns its address. Its settings:
// https://docs.docker.com/reference/cli/dockerd/#daemon-configuration-file.
// Without a storage driver it takes the first that the file system has.
func startDockerd(t *testing.T, driver string) string {
	t.Helper()
	dir := store(t, "podman") // a socket's path has 107 bytes: no t.TempDir
	host := "unix://" + dir + "/socket"
	config, err := json.Marshal(map[string]any{
		"hosts": []string{host}, "data-root": dir + "/data", "exec-root": dir + "/exec", "pidfile": dir + "/pid",
		"bridge": "none", "iptables": false, "ip6tables": false, "storage-driver": driver,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dockerd", "--config-file", file)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends its containerd, too
		<-ended
	})
	for exec.Command("docker", "--host", host, "version").Run() != nil {
		select {
		case <-ended:
			t.Fatalf("dockerd ended:\n%s", log.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return host
}

// dockerSees has an engine read an image by a script that prints its ID, and
// lists a container of it, but for what the engine itself puts there:
// https://github.com/moby/moby/blob/v20.10.24/daemon/initlayer/setup_unix.go#L15
func dockerSees(t *testing.T, driver, script, image string) (listing, error) {
	tree := filepath.Join(t.TempDir(), "tree.tar")
	return folder(t.Context(), nil, `export DOCKER_HOST="$2"; image=$(`+script+`)
		docker export -o "$3" "$(docker create "$image" none)"
		mkdir "$4"; tar -xf "$3" -C "$4"; cd "$4"
		rm -r .dockerenv dev etc proc sys`, image, startDockerd(t, driver), tree, filepath.Join(t.TempDir(), "tree"))
}

func dockerLoad(t *testing.T, img image) (listing, error) {
	return dockerSees(t, "vfs", `docker load -qi "$1" | sed 's/.*ID: //'`, img.tarball)
}

func dockerPull(t *testing.T, img image) (listing, error) {
	return dockerSees(t, "", `docker pull -q "$1"`, img.remote)
}
