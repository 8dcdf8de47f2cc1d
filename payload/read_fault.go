package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/winbake/winbake/internal/fault"
)

// registryFault says which registry did what, and what helps.
func registryFault(ctx context.Context, ref name.Reference, err error) error {
	if cerr := ctx.Err(); cerr != nil {
		return cerr
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	registry := ref.Context().RegistryStr()
	f := &fault.Error{Where: ref.Name(), Err: err}
	if te, ok := errors.AsType[*transport.Error](err); ok {
		f.What = fmt.Sprintf("registry %s answered %d %s%s", registry, te.StatusCode,
			http.StatusText(te.StatusCode), diagnostics(te))
		f.Fix = statusFix(ref, te.StatusCode)
		return f
	}
	f.What, f.Fix = connectionFault(registry, err)
	return f
}

func diagnostics(te *transport.Error) string {
	var all []string
	for _, d := range te.Errors {
		all = append(all, strings.TrimSpace(string(d.Code)+" "+d.Message))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, "; ") + ")"
}

func statusFix(ref name.Reference, status int) string {
	registry := ref.Context().RegistryStr()
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return "podman login " + registry + ", with an account that may pull " + ref.Context().RepositoryStr()
	case status == http.StatusNotFound:
		return "check the name; what is there: skopeo list-tags docker://" + ref.Context().Name()
	case status == http.StatusTooManyRequests:
		return "wait and run it again, or log in: podman login " + registry
	case status >= http.StatusInternalServerError:
		return "run it again; if it stays, tell those who run " + registry
	}
	return "check the name and the registry: curl -I https://" + registry + "/v2/"
}

func connectionFault(registry string, err error) (what, fix string) {
	cause := err.Error()
	if ue, ok := errors.AsType[*url.Error](err); ok {
		cause = ue.Err.Error()
	}
	switch {
	case strings.Contains(cause, "server gave HTTP response to HTTPS client"):
		return "registry " + registry + " speaks plain http", "if that is meant, say --insecure"
	case mayBePlain(err):
		return "registry " + registry + " can't be read over https, and may speak plain http: " + cause,
			"if it does and that is meant, say --insecure; else curl -I https://" + registry + "/v2/"
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return "registry " + registry + " cut the connection", "run it again"
	}
	return "registry " + registry + " can't be read: " + cause, "check the name and the network: curl -I https://" + registry + "/v2/"
}

// config is the fault of an image whose configuration can't be read.
func (s *Source) config(img v1.Image, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok || s.Kind == KindRegistry {
		return err
	}
	m, merr := img.Manifest()
	if merr != nil || s.blobs == nil {
		return err
	}
	return damaged(s.blobs.where(m.Config), "not an image configuration: "+err.Error(), s.blobs.fix())
}
