package wmco

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Services are those that WMCO sets up in the cluster, with the declared ones
// over them. A declared service that is the same as WMCO's, in this cluster or on
// every cloud, becomes the cluster's. One that is different is kept, and gets the
// arguments that the cluster adds, but for flags that it sets itself, with the
// scripts that they need; warn gets the service's name and what is different.
// Declared services that WMCO doesn't have come last.
func (c Cluster) Services(declared []winsvc.Service, warn func(service, what string)) ([]winsvc.Service, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	rest := slices.Clone(declared)
	var out []winsvc.Service
	for _, r := range rows {
		s := c.service(r)
		if i := slices.IndexFunc(rest, func(d winsvc.Service) bool { return strings.EqualFold(d.Name, r.Name) }); i >= 0 {
			s = c.over(r, rest[i], warn)
			rest = slices.Delete(rest, i, i+1)
		}
		out = append(out, s)
	}
	return append(out, rest...), nil
}

// over puts a declared service over a row's service.
func (c Cluster) over(r serviceRow, declared winsvc.Service, warn func(service, what string)) winsvc.Service {
	full, common := c.service(r), Cluster{Release: c.Release}
	other := differences(declared, common.service(r))
	if len(other) == 0 || len(differences(declared, full)) == 0 {
		declared.Path, declared.Arguments, declared.PreScripts = full.Path, full.Arguments, full.PreScripts
		return declared
	}
	what := fmt.Sprintf("it is written as versions.yaml declares it, which isn't as WMCO for OpenShift %s has it: %s", c.Release, strings.Join(other, ", "))
	if slices.Contains(other, "command") {
		what += "; WMCO's command is " + full.Command()
	}
	warn(declared.Name, what)
	declared.Arguments, declared.PreScripts = slices.Clone(declared.Arguments), slices.Clone(declared.PreScripts)
	for _, row := range r.Args {
		if added := c.arguments(row); len(added) > 0 && common.arguments(row) == nil && !sets(declared, added[0]) {
			declared.Arguments = append(declared.Arguments, added...)
		}
	}
	for _, row := range r.PreScripts {
		if row.holds(c.Release, c.Cloud) && !row.holds(c.Release, "") && needs(declared, row.Variable) {
			declared.PreScripts = append(declared.PreScripts, row.script())
		}
	}
	return declared
}

// sets reports whether a service has the flag of an argument, with any value.
func sets(s winsvc.Service, argument string) bool {
	flag, _, _ := strings.Cut(argument, "=")
	return slices.ContainsFunc(s.Arguments, func(a string) bool { return a == flag || strings.HasPrefix(a, flag+"=") })
}

// needs reports whether a service uses a variable that none of its scripts sets.
func needs(s winsvc.Service, variable string) bool {
	set := slices.ContainsFunc(s.PreScripts, func(p winsvc.PreScript) bool { return p.Variable == variable })
	return !set && strings.Contains(s.Command(), variable)
}

// differences are the keys of versions.yaml in which two services differ, of
// those that WMCO's ConfigMap has.
func differences(a, b winsvc.Service) []string {
	var keys []string
	for _, key := range []struct {
		name string
		same bool
	}{
		{"command", a.Command() == b.Command()},
		{"nodeArgs", slices.Equal(a.NodeArgs, b.NodeArgs)},
		{"preScripts", slices.EqualFunc(a.PreScripts, b.PreScripts, sameScript)},
		{"dependencies", slices.Equal(a.Dependencies, b.Dependencies)},
		{"bootstrap", a.Bootstrap == b.Bootstrap},
		{"priority", a.Priority == b.Priority},
	} {
		if !key.same {
			keys = append(keys, key.name)
		}
	}
	return keys
}

func sameScript(a, b winsvc.PreScript) bool {
	return a.Variable == b.Variable && a.Command == b.Command && slices.Equal(a.NodeArgs, b.NodeArgs)
}
