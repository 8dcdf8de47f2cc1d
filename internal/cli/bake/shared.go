package bake

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/compile"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/image/oci"
)

// sharedOptions say which registries have artifacts.
type sharedOptions struct {
	from             []string
	to               string
	trust, noCompile bool
	cacheRegistry    *app.Registry
}

// register adds what reads: a command that asks a registry anyway has its flags already.
func (o *sharedOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.from, "cache-from", nil, "registry's repository that has artifacts, REGISTRY/REPOSITORY; may be repeated")
	f.BoolVar(&o.trust, "cache-trust", false, "believe --cache-from where versions.lock has no output: for a private registry")
	if o.cacheRegistry == nil {
		o.cacheRegistry = &app.Registry{}
		o.cacheRegistry.Register(f, "registries")
	}
}

// shared is nil where artifacts stay on this machine.
func (t *tool) shared(o buildOptions) (*compile.Shared, error) {
	if len(o.from) == 0 && o.to == "" && !o.noCompile {
		return nil, nil
	}
	if o.noCompile && o.noCache {
		return nil, &fault.Error{What: "--no-cache compiles, and --no-compile doesn't", Fix: "leave one of them out"}
	}
	for _, ref := range slices.Concat(o.from, []string{o.to}) {
		if ref == "" {
			continue
		}
		if err := oci.CheckRepository(ref); err != nil {
			return nil, err
		}
	}
	return &compile.Shared{From: o.from, To: o.to, Trust: o.trust, NoCompile: o.noCompile, Options: o.cacheRegistry.Options(t.App)}, nil
}
