package winsvc

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/base/printable"
)

// flagKind is what a flag's value has to be, in words and as it is read.
type flagKind struct {
	words string
	takes func(value string) bool
}

var (
	flagBool     = &flagKind{"true or false", isBool}
	flagText     = &flagKind{"text", func(string) bool { return true }}
	flagLevel    = &flagKind{"a whole number", isInt32}
	flagSize     = &flagKind{"a number of megabytes", isSize}
	flagSeverity = &flagKind{"INFO, WARNING, ERROR or FATAL", func(v string) bool { return isInt32(v) || severityForm.MatchString(v) }}
	flagModules  = &flagKind{"pattern=N, separated by commas", regexp.MustCompile(`^([^=,]+=[0-9]+(,[^=,]+=[0-9]+)*)?$`).MatchString}
	flagTrace    = &flagKind{"file:line", regexp.MustCompile(`^(|[^:]+\.go:[1-9][0-9]*)$`).MatchString}
	flagPath     = &flagKind{`a folder such as C:\var\lib\kubelet`, func(v string) bool { return LegalPath(strings.TrimSuffix(v, `\`)) }}

	severityForm = regexp.MustCompile(`^(?i:INFO|WARNING|ERROR|FATAL)$`)
)

func isBool(v string) bool {
	_, err := strconv.ParseBool(v)
	return err == nil
}

func isSize(v string) bool {
	_, err := strconv.ParseUint(v, 0, 64)
	return err == nil
}

func isInt32(v string) bool {
	_, err := strconv.ParseInt(v, 10, 32)
	return err == nil
}

// klogFlags are klog's in every csi-proxy (k8s.io/klog v1.0.0 up to
// k8s.io/klog/v2 v2.130.1, InitFlags).
var klogFlags = map[string]*flagKind{
	"log_dir": flagText, "log_file": flagText, "log_file_max_size": flagSize, "logtostderr": flagBool, "alsologtostderr": flagBool,
	"v": flagLevel, "add_dir_header": flagBool, "skip_headers": flagBool, "skip_log_headers": flagBool,
	"stderrthreshold": flagSeverity, "vmodule": flagModules, "log_backtrace_at": flagTrace,
}

// proxyFlags are the kinds of csi-proxy's own flags, in any release
// (cmd/csi-proxy/main.go of https://github.com/kubernetes-csi/csi-proxy).
var proxyFlags = map[string]*flagKind{
	"kubelet-csi-plugins-path": flagPath, "kubelet-pod-path": flagPath, "kubelet-path": flagPath, "working-dir": flagPath,
	"windows-service": flagBool, "require-privacy": flagBool, "metrics-bind-address": flagText,
}

// acceptedFlags adds to klog's flags those that a release has of its own,
// with or without their dash. one_output came with klog v2, in the release
// that replaced -kubelet-csi-plugins-path.
func acceptedFlags(own []string) map[string]*flagKind {
	accepted := maps.Clone(klogFlags)
	accepted["one_output"] = flagBool
	for _, name := range own {
		name = strings.TrimLeft(name, "-")
		accepted[name] = cmp.Or(proxyFlags[name], flagText)
		if name == "kubelet-csi-plugins-path" {
			delete(accepted, "one_output")
		}
	}
	return accepted
}

// CheckProxyArguments reads the arguments of a csi-proxy as its flag package
// does, and finds what makes that release end, or run and do nothing. index is
// the service's, for the problems; release is for people; own are the flags
// that the release has besides klog's.
func CheckProxyArguments(index int, s Service, release string, own []string) []Problem {
	c := &flagCheck{problems: problems{service: index}, release: release, accepted: acceptedFlags(own), values: map[string]string{}}
	for i := 0; i < len(s.Arguments); {
		used := c.one(s.Arguments, i)
		if used == 0 {
			break // flag parsing stops here
		}
		i += used
	}
	if len(c.found) == 0 {
		c.together()
	}
	return c.found
}

type flagCheck struct {
	problems
	release  string
	accepted map[string]*flagKind
	values   map[string]string
}

// one reads the argument at i and returns how many it took; 0 where csi-proxy
// stops reading flags.
func (c *flagCheck) one(args []string, i int) int {
	arg := args[i]
	if len(arg) < 2 || arg[0] != '-' || arg == "--" {
		c.item("args", i, "leave it out, or write a flag's value behind its =", "csi-proxy reads no flag from %s on", printable.Quote(arg))
		return 0
	}
	name, value, assigned := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
	kind, known := c.accepted[name]
	switch {
	case !known:
		c.item("args", i, c.advice(name), "csi-proxy %s doesn't know the flag -%s and would end at once", c.release, printable.Clip(name))
		return 1
	case c.seen(name) && name != "working-dir":
		c.item("args", i, "remove one of them", "flag -%s stands here twice; the last one counts", name)
	}
	used := 1
	if !assigned && kind == flagBool {
		value = "true"
	} else if !assigned {
		if i+1 == len(args) {
			c.item("args", i, "write -"+name+"=VALUE", "flag -%s has no value", name)
			return 1
		}
		value, used = args[i+1], 2
	}
	c.values[name] = value
	if !kind.takes(value) {
		c.item("args", i, "write "+kind.words, "flag -%s can't be %s", name, printable.Quote(value))
	}
	return used
}

func (c *flagCheck) seen(name string) bool { _, seen := c.values[name]; return seen }

// advice names the flag that was meant, or the release's own flags.
func (c *flagCheck) advice(name string) string {
	for known := range c.accepted {
		if strings.EqualFold(strings.NewReplacer("-", "", "_", "").Replace(name), strings.NewReplacer("-", "", "_", "").Replace(known)) {
			return "did you mean -" + known + "?"
		}
	}
	var own []string
	for known := range c.accepted {
		if _, is := proxyFlags[known]; is {
			own = append(own, "-"+known)
		}
	}
	slices.Sort(own)
	return "leave it out, or pin a csi-proxy that has it; this one has klog's flags and " + strings.Join(own, ", ")
}

func (c *flagCheck) together() {
	if on, _ := strconv.ParseBool(c.values["windows-service"]); !on {
		c.add("args", "add -windows-service", "without -windows-service csi-proxy never answers the service manager, which ends it after 30 seconds")
	}
	toStderr, err := strconv.ParseBool(c.values["logtostderr"])
	if (c.seen("log_file") || c.seen("log_dir")) && (err != nil || toStderr) {
		c.add("args", "add -logtostderr=false", "without -logtostderr=false csi-proxy writes no log file")
	}
}
