package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// pipeTimes are how long a pipe may take to answer, each time that it is asked.
// csi-proxy answers what it is asked here without asking Windows: in
// milliseconds, on a node that isn't overloaded. It is asked again because
// the first connection to a pipe may be to an instance that nobody serves: on
// Wine it is, to the one that go-winio makes to hold the name.
var pipeTimes = []time.Duration{time.Second, 4 * time.Second, 10 * time.Second}

func askPipe(ctx context.Context, name string) node.PipeFacts {
	var f node.PipeFacts
	for _, d := range pipeTimes {
		var again bool
		if f, again = askOnce(ctx, name, d); !again || ctx.Err() != nil {
			break
		}
	}
	return f
}

// askOnce tells too whether to ask again.
func askOnce(ctx context.Context, name string, d time.Duration) (f node.PipeFacts, again bool) {
	f = node.PipeFacts{Name: name}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	conn, err := winio.DialPipeContext(ctx, name)
	switch {
	case errors.Is(err, windows.ERROR_FILE_NOT_FOUND):
		f.Exists = node.Say(false)
		return f, false
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		f.Exists = node.Say(true)
		why := "this user may not open the pipe"
		f.PID, f.Answer = node.Unknown[uint32](why), node.Unknown[string](why)
		return f, false
	case err != nil:
		f.Exists = node.Unknown[bool](err.Error())
		return f, true
	}
	defer conn.Close() //nolint:errcheck // gRPC closes it too
	f.Exists, f.PID = node.Say(true), serverOf(conn)
	if pid, ok := f.PID.Get(); ok {
		process := Process{PID: pid}
		process.look()
		f.Image = process.Image
	}
	f.Answer = ask(ctx, name, conn)
	return f, f.Answer.Value == noAnswer
}

func serverOf(conn net.Conn) node.Told[uint32] {
	file, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return node.Unknown[uint32]("the connection has no handle")
	}
	var pid uint32
	if err := windows.GetNamedPipeServerProcessId(windows.Handle(file.Fd()), &pid); err != nil {
		return node.Unknown[uint32]("GetNamedPipeServerProcessId: " + err.Error())
	}
	return node.Say(pid)
}

// ask makes a harmless call: a method that doesn't exist. A server of the pipe's
// group answers that it doesn't know it, any other that it doesn't know the group.
func ask(ctx context.Context, name string, conn net.Conn) node.Told[string] {
	group, version, ok := groupOf(name)
	if !ok {
		return node.Say(node.AnswerOK) // not csi-proxy's: that it is there is all
	}
	client, err := grpc.NewClient("passthrough:///"+name, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return conn, nil }))
	if err != nil {
		return node.Unknown[string](err.Error())
	}
	defer client.Close() //nolint:errcheck // the answer counts
	service := version + "." + strings.ToUpper(group[:1]) + group[1:]
	err = client.Invoke(ctx, "/"+service+"/Winbake", new(emptypb.Empty), new(emptypb.Empty))
	switch s, _ := status.FromError(err); {
	case s.Code() == codes.Unimplemented && strings.Contains(s.Message(), "unknown method"):
		return node.Say(node.AnswerOK)
	case s.Code() == codes.DeadlineExceeded, s.Code() == codes.Canceled:
		return node.Say(noAnswer)
	default:
		return node.Say(fmt.Sprintf("%s: %s", s.Code(), s.Message()))
	}
}

// noAnswer is what is said of a pipe that doesn't.
const noAnswer = "no answer in time"

// groupOf takes \\.\pipe\csi-proxy-disk-v1 apart.
func groupOf(pipe string) (group, version string, ok bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(pipe), winsvc.PipePrefix)
	group, version, _ = strings.Cut(rest, "-")
	return group, version, ok && group != "" && version != ""
}
