package cluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/inventory/kube"
)

// Options say which cluster is read, and how.
type Options struct {
	// Config reaches the API server. Flags.Config makes one as kubectl would.
	Config *rest.Config
	// Context is the kubeconfig's context, for the source's name and for the
	// commands that fix a Problem. It may be empty.
	Context string
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
