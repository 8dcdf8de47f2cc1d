package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// access is one right: a verb on a resource, of which "" means list.
type access struct {
	verb, resource, namespace, name string
}

func (a access) String() string {
	s := a.resource
	if a.name != "" {
		s += "/" + a.name
	}
	if a.namespace != "" {
		s += " in " + a.namespace
	}
	return s
}

// canI is the command that asks the server about the right.
func (r *reader) canI(a access) string {
	verb, object := cmp.Or(a.verb, "list"), a.resource
	if a.name != "" {
		object += "/" + a.name
	}
	scope := ""
	if a.namespace != "" {
		scope = " -n " + a.namespace
	} else if verb == "list" {
		scope = " --all-namespaces"
	}
	return fmt.Sprintf("kubectl %sauth can-i %s %s%s", r.context(), verb, object, scope)
}

// cover notes how much of a resource was read. It returns the errors that end
// all reading, and no other. It makes no Problem: the rules that need the
// resource tell what is missing, where there are any.
func (r *reader) cover(resource inventory.Resource, err error) error {
	if err != nil && fatal(err) {
		return err
	}
	var cov inventory.Coverage
	if err != nil {
		cov.Reason = reason(err)
	}
	r.c.Cover(resource, cov)
	return nil
}

// note makes a Problem of an error that doesn't end all reading, of what has no
// coverage.
func (r *reader) note(a access, err error) error {
	switch {
	case err == nil:
	case fatal(err):
		return err
	case apierrors.IsForbidden(err):
		r.c.Problem(inventory.Problem{
			Where: a.String(), What: reason(err),
			Fix: "an administrator grants the rights that verify skew role prints; the command must say yes then", Command: r.canI(a),
		})
	default:
		r.c.Problem(inventory.Problem{
			Where: a.String(), What: reason(err),
			Fix: "run it again; the command shows what the API server lacks", Command: "kubectl " + r.context() + "get --raw='/readyz?verbose'",
		})
	}
	return nil
}

// strangeError is an answer that no API server gives: that of a web page, a
// proxy or another program.
type strangeError struct{ err error }

func (e *strangeError) Error() string { return e.err.Error() }
func (e *strangeError) Unwrap() error { return e.err }

// fatal tells whether an error ends all reading: there is no answer, it isn't
// an API server's, or the server doesn't let the user in.
func fatal(err error) bool {
	var network net.Error
	var address *url.Error
	var strange *strangeError
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || stranger(err) || disguised(err) ||
		errors.As(err, &network) || errors.As(err, &address) || errors.As(err, &strange)
}

// stranger tells whether the server doesn't know who asks.
func stranger(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), `"system:anonymous"`)
}

// disguised tells whether the server refuses --as. Then it refuses everything.
func disguised(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot impersonate resource")
}

// reason words an error for coverage and problems.
func reason(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "forbidden: " + err.Error()
	case apierrors.IsNotFound(err):
		return "the cluster doesn't have it: " + err.Error()
	case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
		return "the list changes faster than it can be read: " + err.Error()
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return fmt.Sprintf("the API server answers %d: %v", status.Status().Code, err)
	}
	return err.Error()
}

// fault words an error that ends all reading.
func (r *reader) fault(ctx context.Context, err error) error {
	ready := "kubectl " + r.context() + "get --raw='/readyz?verbose'"
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		return &fault.Error{
			What: "the cluster couldn't be read within the time limit", Where: r.host, Err: ctx.Err(),
			Fix: "raise the limit; how the API server is says " + ready,
		}
	case disguised(err):
		return &fault.Error{
			What: "the user may not act as another", Where: r.host, Excerpt: err.Error(), Err: err,
			Fix: "leave out --as and the flags like it, or log in as a user who may impersonate",
		}
	case stranger(err):
		return &fault.Error{
			What: "the API server doesn't accept the credentials", Where: r.host, Excerpt: err.Error(), Err: err,
			Fix: "log in again, oc login say, and try: kubectl " + r.context() + "auth whoami",
		}
	}
	if e, ok := errors.AsType[*net.OpError](err); errors.Is(err, context.DeadlineExceeded) && (!ok || e.Op != "dial") {
		return &fault.Error{
			What: fmt.Sprintf("the API server took longer than %s over one request", r.timeout), Where: r.host, Excerpt: err.Error(), Err: err,
			Fix: fmt.Sprintf("--request-timeout=%s, or look what it is busy with: %s", 5*r.timeout, ready),
		}
	}
	if e, ok := errors.AsType[*strangeError](err); ok {
		return &fault.Error{
			What: "no working API server answers there", Where: r.host, Excerpt: e.Error(), Err: err,
			Fix: "kubectl " + r.context() + "version; the address is in the kubeconfig, or in --server",
		}
	}
	return &fault.Error{What: "the API server doesn't answer", Where: r.host, Excerpt: cause(err), Err: err, Fix: ready}
}

// cause is an error without the request that it is in.
func cause(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err.Error()
	}
	return err.Error()
}
