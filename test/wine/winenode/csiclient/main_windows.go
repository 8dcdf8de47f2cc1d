// Command csiclient does what the node part of a CSI driver does with
// csi-proxy, through csi-proxy's own client library: single calls, and the
// calls of a node's stage and publish. The test node runs it in Wine, the
// pipeline ci/github/windows.yaml on Windows Server.
//
// It prints a line of JSON for each call and stops at the first that fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

const timeout = 5 * time.Minute

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	err := run(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "csiclient:", err)
		os.Exit(1)
	}
}

// volume is what a driver gets from the kubelet and from its own controller.
type volume struct {
	staging, target string // folders on the node
	lun             string // the disk's, or
	disk            int    // its number; negative: ask for it by lun
	remote, user    string // the share
}

var verbs = map[string]func(context.Context, *proxy, volume) error{
	"dial": dial, "owners": owners, "pipes": pipes, "call": call,
	"stage-disk": stageDisk, "publish": publish, "unpublish": unpublish, "unstage-disk": unstageDisk,
	"stage-smb": stageSMB, "unstage-smb": unstageSMB,
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || verbs[args[0]] == nil {
		return errors.New("one of dial, owners, pipes, call, stage-disk, stage-smb, publish, unpublish, unstage-disk, unstage-smb")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	var v volume
	flags.StringVar(&v.staging, "staging", "", "folder where the volume is staged")
	flags.StringVar(&v.target, "target", "", "folder where the pod gets it")
	flags.StringVar(&v.lun, "lun", "", "LUN of the disk")
	flags.IntVar(&v.disk, "disk", -1, "number of the disk, instead of its LUN")
	flags.StringVar(&v.remote, "remote", "", `share, \\server\share`)
	flags.StringVar(&v.user, "user", "", "the share's user; the password is the first line of standard input")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	p, err := connect()
	if err != nil {
		return err
	}
	defer p.close()
	return verbs[args[0]](ctx, p, v)
}
