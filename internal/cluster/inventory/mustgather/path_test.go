package mustgather

import (
	"path"
	"strings"
	"testing"
)

const imageFolder = "must-gather.local.5/quay-io-openshift-release-dev-ocp-v4-0-art-dev-sha256-0a1b"

func TestLocate(t *testing.T) {
	tests := map[string]place{
		imageFolder + "/cluster-scoped-resources/core/nodes/win-1.yaml":            {role: object, root: imageFolder, resource: "core/nodes"},
		"cluster-scoped-resources/config.openshift.io/clusterversions.yaml":        {role: list, resource: "config.openshift.io/clusterversions"},
		"cluster-scoped-resources/config.openshift.io/clusterversions/version.yml": {role: object, resource: "config.openshift.io/clusterversions"},
		"a/namespaces/shop/apps/daemonsets.yaml":                                   {role: list, root: "a", namespace: "shop", resource: "apps/daemonsets"},
		"a/namespaces/shop/apps/daemonsets/driver.yaml.gz":                         {role: object, root: "a", namespace: "shop", resource: "apps/daemonsets"},
		"namespaces/shop/core/pods.json":                                           {role: list, namespace: "shop", resource: "core/pods"},
		"namespaces/shop/pods/web-1/web-1.yaml":                                    {role: object, namespace: "shop", resource: "core/pods", pod: true},
		"namespaces/shop/pods/web-1/web/web/logs/current.log":                      {namespace: "shop"},
		"namespaces/shop/shop.yaml":                                                {role: object, namespace: "shop", resource: "core/namespaces"},
		"namespaces/pods/pods.yaml":                                                {role: object, namespace: "pods", resource: "core/namespaces"},
		"namespaces/shop":                                                          {namespace: "shop"},
		"namespaces":                                                               {},
		"a/namespaces/namespaces/core/pods.yaml":                                   {role: list, root: "a", namespace: "namespaces", resource: "core/pods"},
		"a/" + proxyLog:                                                            {role: log, root: "a"},
		proxyLog + ".gz":                                                           {role: log},
		"a/timestamp":                                                              {role: timestamp, root: "a"},
		"version":                                                                  {role: script},
		"a/b/event-filter.html":                                                    {},
		"cluster-scoped-resources/core/.yaml":                                      {},
	}
	for name, want := range tests {
		if got := locate(name); got != want {
			t.Errorf("locate(%q) = %+v\nwant %+v", name, got, want)
		}
	}
}

func FuzzLocate(f *testing.F) {
	for _, seed := range []string{imageFolder + "/cluster-scoped-resources/core/nodes/a.yaml", "namespaces/a/pods/b/b.yaml", "namespaces//a", proxyLog, "../timestamp"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		p := locate(path.Clean(name))
		if (p.role == object || p.role == list) != (p.resource != "") {
			t.Errorf("%q: role %d of resource %q", name, p.role, p.resource)
		}
		if p.resource != "" && strings.Count(p.resource, "/") != 1 {
			t.Errorf("%q: resource %q", name, p.resource)
		}
		if !strings.HasPrefix(path.Clean(name), p.root) {
			t.Errorf("%q: root %q", name, p.root)
		}
	})
}
