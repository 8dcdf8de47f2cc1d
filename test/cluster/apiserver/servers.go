package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/test/support/kubeclient"
)

// errNoEtcd says how to get what a test machine lacks.
var errNoEtcd = errors.New("no etcd on PATH: the tests need it; install it: apt-get install etcd-server, or run test/deps.sh")

// clientSocket and peerSocket are Unix sockets in etcd's working folder. etcd
// wants names that look like host and port.
const (
	clientSocket = "client:0"
	peerSocket   = "peer:0"
)

// startEtcd starts etcd over a Unix socket: nobody else on the machine can
// reach it, and no port can be taken.
func (s *Server) startEtcd() error {
	program, err := exec.LookPath("etcd")
	if err != nil {
		return errNoEtcd
	}
	const client, peer = "unix://" + clientSocket, "unix://" + peerSocket
	s.etcd, err = launch(s.dir, program,
		"--data-dir=etcd",
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		"--quota-backend-bytes="+strconv.Itoa(4<<30))
	return err
}

// startAPIServer starts kube-apiserver on a free port and waits until it is
// ready. taken: somebody else had the port.
func (s *Server) startAPIServer(ctx context.Context, binary, token string, args []string) (taken bool, err error) {
	port, err := freePort()
	if err != nil {
		return false, err
	}
	s.apiserver, err = launch(s.dir, binary, append(s.arguments(port), args...)...)
	if err != nil {
		return false, err
	}
	s.Config = &rest.Config{
		Host:        "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		BearerToken: token,
		QPS:         -1,
	}
	err = s.waitReady(ctx)
	return err != nil && s.apiserver.says("address already in use"), err
}

func (s *Server) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *Server) arguments(port int) []string {
	return []string{
		"--etcd-servers=unix://" + s.path(clientSocket),
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + s.path("certs"), // where it writes a certificate of its own
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + s.path("sa.key"),
		"--service-account-key-file=" + s.path("sa.key"),
		"--token-auth-file=" + s.path("tokens.csv"),
		"--authorization-mode=RBAC",
		// HostProcess pods are privileged.
		"--allow-privileged=true",
		// Nobody makes ServiceAccounts' tokens, and nobody takes away the
		// taint that new nodes get.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		// The server's own endpoint: 127.0.0.1 isn't one.
		"--endpoint-reconciler-type=none",
	}
}

// waitReady waits until the server and its built-in roles are there.
func (s *Server) waitReady(ctx context.Context) error {
	for {
		if s.ready(ctx) {
			return nil
		}
		select {
		case <-s.apiserver.ended:
			return s.apiserver.failure()
		case <-s.etcd.ended:
			return s.etcd.failure()
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver isn't ready: %w\n%s", ctx.Err(), s.apiserver.tail())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *Server) ready(ctx context.Context) bool {
	ca, err := os.ReadFile(s.path("certs/apiserver.crt"))
	if err != nil {
		return false
	}
	s.Config.CAData = ca
	config := rest.CopyConfig(s.Config)
	config.Timeout = time.Minute // for one question
	client, err := kubeclient.New(config)
	if err != nil {
		return false
	}
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close() //nolint:errcheck // nothing was sent
	return l.Addr().(*net.TCPAddr).Port, nil
}
