package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"

	diskgroup "github.com/kubernetes-csi/csi-proxy/client/groups/disk/v1"
	filegroup "github.com/kubernetes-csi/csi-proxy/client/groups/filesystem/v1"
	smbgroup "github.com/kubernetes-csi/csi-proxy/client/groups/smb/v1"
	volumegroup "github.com/kubernetes-csi/csi-proxy/client/groups/volume/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// proxy has a client for each API group of version v1. NewClient of each has
// dialled its pipe.
type proxy struct {
	disk   *diskgroup.Client
	files  *filegroup.Client
	smb    *smbgroup.Client
	volume *volumegroup.Client
	ends   []io.Closer
}

func connect() (*proxy, error) {
	p := &proxy{}
	return p, firstError(
		open(p, "disk", &p.disk, diskgroup.NewClient),
		open(p, "filesystem", &p.files, filegroup.NewClient),
		open(p, "smb", &p.smb, smbgroup.NewClient),
		open(p, "volume", &p.volume, volumegroup.NewClient),
	)
}

func open[C io.Closer](p *proxy, group string, into *C, dial func() (C, error)) error {
	c, err := dial()
	if err != nil {
		return fmt.Errorf("pipe of %s v1: %w", group, err)
	}
	*into = c
	p.ends = append(p.ends, c)
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *proxy) close() {
	for _, c := range p.ends {
		_ = c.Close() // the process ends
	}
}

// line is what is printed of a call.
type line struct {
	Call    string
	Request json.RawMessage
	Answer  json.RawMessage `json:",omitempty"`
	Error   string          `json:",omitempty"`
}

// do makes a call and prints it.
func do[Q, A proto.Message](ctx context.Context, name string, method func(context.Context, Q, ...grpc.CallOption) (A, error), request Q) (A, error) {
	answer, err := method(ctx, request)
	return answer, firstError(show(name, request, answer, err), err)
}

func show(name string, request, answer proto.Message, failed error) error {
	l := line{Call: name}
	var err error
	if l.Request, err = protojson.Marshal(request); err != nil {
		return err
	}
	if failed != nil {
		l.Error = failed.Error()
	} else if l.Answer, err = protojson.Marshal(answer); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(l)
}

// dial has nothing left to do: the pipes are open.
func dial(context.Context, *proxy, volume) error { return nil }

// step is a call that standard input asks for.
type step struct {
	Group, Method string
	Request       json.RawMessage
}

// call makes the calls on standard input, a JSON list of steps, all of them:
// what fails is printed as any other answer.
func call(ctx context.Context, p *proxy, _ volume) error {
	var steps []step
	if err := json.NewDecoder(os.Stdin).Decode(&steps); err != nil {
		return fmt.Errorf("read the steps: %w", err)
	}
	groups := map[string]any{"disk": p.disk, "filesystem": p.files, "smb": p.smb, "volume": p.volume}
	for _, s := range steps {
		method := reflect.ValueOf(groups[s.Group]).MethodByName(s.Method)
		if !method.IsValid() {
			return fmt.Errorf("no call %s.%s", s.Group, s.Method)
		}
		request := reflect.New(method.Type().In(1).Elem())
		message := request.Interface().(proto.Message)
		if err := protojson.Unmarshal(s.Request, message); err != nil {
			return fmt.Errorf("%s.%s: %w", s.Group, s.Method, err)
		}
		results := method.Call([]reflect.Value{reflect.ValueOf(ctx), request})
		failed, _ := results[1].Interface().(error)
		answer, _ := results[0].Interface().(proto.Message)
		if err := show(s.Group+"."+s.Method, message, answer, failed); err != nil {
			return err
		}
	}
	return nil
}
