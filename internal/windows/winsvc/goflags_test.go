package winsvc

import (
	"flag"
	"io"

	"k8s.io/klog/v2"
)

// accepts parses arguments as csi-proxy v1.3.0 does: with Go's flag package,
// klog's own flags and its own; all of them are read, and it is a service.
func accepts(args []string) bool {
	set := flag.NewFlagSet("csi-proxy", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	klog.InitFlags(set)
	set.String("kubelet-path", "", "")
	set.String("metrics-bind-address", "", "")
	set.Bool("require-privacy", true, "")
	set.Func("working-dir", "", func(string) error { return nil })
	service := set.Bool("windows-service", false, "")
	return set.Parse(args) == nil && set.NArg() == 0 && *service
}
