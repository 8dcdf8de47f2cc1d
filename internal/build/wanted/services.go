// Package wanted makes of versions.yaml what a node should be: its services,
// and the node.json of a payload.
//
// bake writes it into images, verify compares images with it. It builds
// nothing and reads no image.
package wanted

import (
	"fmt"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Services are those of the file, checked against what the catalog knows of
// the pinned csi-proxy, which also tells its pipes. warn is told, with the
// service's name, what couldn't be checked. The error lists the mistakes, each
// with its line.
func Services(file *pins.File, warn func(service, what string)) ([]winsvc.Service, error) {
	services := file.Definitions()
	cat, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	var found []winsvc.Problem
	for i, s := range services {
		if !s.IsCSIProxy() {
			continue
		}
		release := proxyRelease(cat, file, s, warn)
		if release == nil {
			continue
		}
		found = append(found, winsvc.CheckProxyArguments(i, s, "v"+release.Version, release.Flags)...)
		for _, group := range release.Groups {
			services[i].Pipes = append(services[i].Pipes, winsvc.PipePrefix+group)
		}
	}
	return services, file.Mistakes(found)
}

// proxyModule is whose versions the catalog has; a fork's say nothing.
const proxyModule = "github.com/kubernetes-csi/csi-proxy"

// proxyRelease is what the catalog knows of the csi-proxy that a service runs.
// nil, with a warning, if it knows nothing: then nothing is checked.
func proxyRelease(cat *catalog.Catalog, file *pins.File, s winsvc.Service, warn func(service, what string)) *catalog.CSIProxyRelease {
	var release *catalog.CSIProxyRelease
	what := s.Path // for files, too: nobody knows what is in them
	if c, err := file.Component(s.Component); s.Component != "" && err == nil {
		switch {
		case c.Module != "":
			what = c.Version
			if v, err := version.ParseDriver(c.Version); err == nil && c.Module == proxyModule {
				release = cat.ProxyRelease(v.String())
			}
		case c.Program():
			what = c.Commit
			release = cat.ProxyByCommit(c.Commit[:12])
		}
	}
	if release == nil {
		warn(s.Name, fmt.Sprintf("the catalog of %s doesn't know which flags csi-proxy %s takes: they aren't checked", cat.AsOf, what))
	}
	return release
}
