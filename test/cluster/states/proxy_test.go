package states

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

// ocScript is oc: it asks the played cluster first, which does what only OpenShift's
// oc knows and what controllers do meanwhile. All else is kubectl. It is called
// hundreds of times, so it starts nothing else.
const ocScript = `#!/bin/bash
exec 3<>"/dev/tcp/$PLAY" || exit 1
printf '%d\n' $# >&3
printf '%s\0' "$@" >&3
read -r exit more <&3
if [ "$exit" = kubectl ]; then
  exec 3>&-
  exec "$KUBECTL" "$@" $more
fi
cat <&3
exit "$exit"
`

// listen answers the calls of oc and tells where, as bash's /dev/tcp has it.
func (s *server) listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	ctx := context.WithoutCancel(t.Context())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.handle(ctx, c)
		}
	}()
	return strings.Replace(l.Addr().String(), ":", "/", 1)
}

// handle answers one call.
func (s *server) handle(ctx context.Context, c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	var n int
	if _, err := fmt.Fscanf(r, "%d\n", &n); err != nil {
		return
	}
	args := make([]string, n)
	for i := range args {
		arg, err := r.ReadString(0)
		if err != nil {
			return
		}
		args[i] = strings.TrimSuffix(arg, "\x00")
	}
	a := s.play(ctx, args)
	if a.Kubectl {
		fmt.Fprintln(c, "kubectl", strings.Join(a.More, " "))
		return
	}
	fmt.Fprintf(c, "%d\n%s", a.Exit, a.Out)
}
