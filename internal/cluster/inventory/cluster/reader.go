package cluster

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1 "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// Options say which cluster is read, and how.
type Options struct {
	// Config reaches the API server. Flags.Config makes one as kubectl would.
	Config *rest.Config
	// Context is the kubeconfig's context, for the source's name and for the
	// commands that fix a Problem. It may be empty.
	Context string
	// Given are flags for those commands, instead of the context.
	Given []string
	// PageSize is how many objects one answer holds at most; 0 means 500,
	// which is kubectl's.
	PageSize int64
	// Progress is told how many objects of what were read, and how many there
	// are, 0 where the server doesn't say. Calls don't overlap. It may be nil.
	Progress func(what string, done, total int64)
}

type reader struct {
	c *kube.Collector
	o Options
	clients
	host     string
	timeout  time.Duration // of one request
	version  string
	progress sync.Mutex

	// These are filled by the first half of read, for the second.
	nodes  nodes
	sets   map[types.NamespacedName]string // label selectors of DaemonSets
	spaces spaces
}

// nodes is what reading pods needs to know of them.
type nodes struct {
	windows []string
	all     int
	// read: both numbers are right.
	read bool
}

func (r *reader) tell(what string, done, total int64) {
	if r.o.Progress == nil {
		return
	}
	r.progress.Lock()
	defer r.progress.Unlock()
	r.o.Progress(what, done, total)
}

// clients share one connection. They are those of the groups that are read: the
// set of all groups takes the compiler minutes.
type clients struct {
	core      corev1.CoreV1Interface
	apps      appsv1.AppsV1Interface
	storage   storagev1.StorageV1Interface
	discovery *discovery.DiscoveryClient
	metadata  metadata.Interface
	custom    dynamic.Interface
}

const (
	// requestTimeout is what an API server gives a request itself
	// (--request-timeout of kube-apiserver): it answers no later.
	requestTimeout = time.Minute
	pageSize       = 500
)

func newReader(c *kube.Collector, o Options) (*reader, error) {
	o.PageSize = cmp.Or(o.PageSize, pageSize)
	config := quiet(o.Config)
	r := &reader{c: c, o: o, host: config.Host, timeout: config.Timeout}
	if err := r.connect(config); err != nil {
		return nil, &fault.Error{
			What: "the credentials or the address of the API server can't be used: " + err.Error(), Where: config.Host, Err: err,
			Fix: "kubectl " + r.context() + "config view --minify",
		}
	}
	return r, nil
}

// quiet is config for a client that prints nothing. It has no limit of requests
// a second: client-go's own, 5, is for controllers that run all day, and so few
// are under way at once here that the server sets the pace.
func quiet(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if config.RateLimiter == nil && config.QPS == 0 {
		config.QPS = -1
	}
	// Only package console prints.
	config.WarningHandler = rest.NoWarnings{}
	return config
}

func (cl *clients) connect(config *rest.Config) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	// Half of the time of a large JSON list goes into decoding it.
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = binary.ContentType + ",application/json"
	var errs [6]error
	cl.core, errs[0] = corev1.NewForConfigAndClient(binary, client)
	cl.apps, errs[1] = appsv1.NewForConfigAndClient(binary, client)
	cl.storage, errs[2] = storagev1.NewForConfigAndClient(binary, client)
	cl.discovery, errs[3] = discovery.NewDiscoveryClientForConfigAndClient(binary, client)
	cl.metadata, errs[4] = metadata.NewForConfigAndClient(binary, client)
	cl.custom, errs[5] = dynamic.NewForConfigAndClient(config, client) // custom resources have no protobuf
	if err := cmp.Or(errs[:]...); err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	return nil
}

// context are the flags that have kubectl ask the same server as the same user,
// with a space behind each.
func (r *reader) context() string {
	flags := ""
	switch {
	case len(r.o.Given) > 0:
		flags = shell.Words(r.o.Given) + " "
	case r.o.Context != "":
		flags = "--context " + shell.Word(r.o.Context) + " "
	default:
		flags = "--server " + r.host + " "
	}
	if user := r.o.Config.Impersonate.UserName; user != "" {
		flags += "--as " + shell.Word(user) + " "
	}
	for _, group := range r.o.Config.Impersonate.Groups {
		flags += "--as-group " + shell.Word(group) + " "
	}
	return flags
}
