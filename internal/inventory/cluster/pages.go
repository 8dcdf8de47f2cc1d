package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
)

// object is a pointer to a Kubernetes object of type T.
type object[T any] interface {
	*T
	metav1.Object
}

// pager reads one list to its end.
type pager[L metav1.ListInterface, T any, P object[T]] struct {
	r       *reader
	what    string
	options metav1.ListOptions
	list    func(context.Context, metav1.ListOptions) (L, error)
	items   func(L) []T
	take    func(P)
	// version is that of the list's first page.
	version string
	taken   map[types.NamespacedName]bool
}

func pages[L metav1.ListInterface, T any, P object[T]](r *reader, what string, list func(context.Context, metav1.ListOptions) (L, error), items func(L) []T, take func(P)) *pager[L, T, P] {
	return &pager[L, T, P]{r: r, what: what, options: r.paged(), list: list, items: items, take: take}
}

// read takes every object of the list once. A server forgets a list that is
// read too slowly (410 Gone, after five minutes by default); then the list is
// read again from its start, once, without what was taken already.
func (p *pager[L, T, P]) read(ctx context.Context) error {
	p.taken = map[types.NamespacedName]bool{}
	err := p.pages(ctx)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		err = p.pages(ctx)
	}
	return err
}

func (p *pager[L, T, P]) pages(ctx context.Context) error {
	options := p.options
	for {
		var page L
		err := again(ctx, func() (err error) {
			page, err = p.list(ctx, options)
			return err
		})
		if err != nil {
			return err
		}
		if p.version == "" {
			p.version = page.GetResourceVersion()
		}
		p.page(page)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return nil
		}
	}
}

func (p *pager[L, T, P]) page(page L) {
	items := p.items(page)
	for i := range items {
		o := P(&items[i])
		name := types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
		if !p.taken[name] {
			p.taken[name] = true
			p.take(o)
		}
	}
	if p.what == "" {
		return
	}
	done, total := int64(len(p.taken)), int64(0)
	if left := page.GetRemainingItemCount(); left != nil {
		total = done + *left
	}
	p.r.tell(p.what, done, total)
}

// patience is for a server that restarts or is overloaded for a moment.
var patience = wait.Backoff{Steps: 3, Duration: 250 * time.Millisecond, Factor: 4}

// again calls f until it succeeds, or fails in a way that time doesn't fix.
func again(ctx context.Context, f func() error) error {
	var last error
	err := wait.ExponentialBackoffWithContext(ctx, patience, func(context.Context) (bool, error) {
		last = f()
		if last == nil || passing(last) {
			return last == nil, nil
		}
		return false, last
	})
	if err != nil && last != nil {
		return last
	}
	return err
}

// passing tells whether an error may be gone in a second. A timeout isn't: who
// waited a minute won't wait for two more.
func passing(err error) bool {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // client-go wraps no url.Error
		return !u.Timeout() && (utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err))
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		return true
	}
	return false
}
