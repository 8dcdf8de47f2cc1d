package manifests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// drivers is a catalog of the test's own.
func drivers() *catalog.Catalog {
	return &catalog.Catalog{Drivers: []catalog.Driver{
		{Name: "smb", Provisioner: "smb.csi.k8s.io", Images: []string{"sig-storage/smbplugin"}, Containers: []string{"smb"}},
		{Name: "vsphere", Provisioner: "csi.vsphere.vmware.com", Images: []string{"csi-vsphere/driver"}, Containers: []string{"vsphere-csi-node"}},
	}}
}

// stdin reads one text, and gives what came of it.
func stdin(t *testing.T, text string) (*inventory.Inventory, inventory.Source, error) {
	t.Helper()
	c := kube.NewCollector(kube.Options{Catalog: drivers()})
	src, err := Read(t.Context(), c, []string{"-"}, strings.NewReader(text))
	return c.Inventory(), src, err
}

// smb is a whole driver, as the tests break it.
const smb = `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: smb
  namespace: storage
spec:
  template:
    spec:
      nodeSelector:
        kubernetes.io/os: windows
      containers:
      - name: smb
        image: mirror/sig-storage/smbplugin:v1.17.0
        volumeMounts:
        - name: pipe
          mountPath: \\.\pipe\csi-proxy-smb-v1
      volumes:
      - name: pipe
        hostPath:
          path: \\.\pipe\csi-proxy-smb-v1
`

const namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: fine}\n"

// bomb is nine levels of nine aliases each.
func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n  a0: &a0 [lol, lol]\n")
	for i := '1'; i <= '9'; i++ {
		b.WriteString("  a" + string(i) + ": &a" + string(i) + " [")
		b.WriteString(strings.Repeat("*a"+string(i-1)+", ", 9))
		b.WriteString("]\n")
	}
	return b.String()
}

// upTo is what is before mark in smb.
func upTo(mark string) string {
	before, _, _ := strings.Cut(smb, mark)
	return before
}

// Everything that can't be read is told, with its place, and hides nothing of
// what is next to it.
func TestHostile(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"tab":              {strings.Replace(smb, "        image:", "\timage:", 1), "<stdin>:12: this isn't YAML: found a tab character"},
		"truncated":        {upTo(": mirror"), "<stdin>:13: this isn't YAML: could not find expected ':'"},
		"no image":         {upTo("        image:"), `<stdin>:1: DaemonSet storage/smb has a container "smb" without an image`},
		"cut at a line":    {upTo("      volumes:"), `<stdin>:1: DaemonSet storage/smb mounts the volume "pipe", which it doesn't declare`},
		"helm":             {strings.Replace(smb, "  name: smb", `  name: {{ include "smb.name" . }}`, 1), "<stdin>:4: this is a template: render it first"},
		"helm control":     {"{{- if .Values.windows.enabled }}\n" + smb + "{{- end }}\n", "<stdin>:1: this is a template: render it first"},
		"helm value":       {strings.Replace(smb, "mirror/sig-storage/smbplugin:v1.17.0", "{{ .Values.image }}", 1), "<stdin>:13: this is a template: render it first"},
		"quoted helm":      {strings.Replace(smb, "mirror/sig-storage/smbplugin:v1.17.0", `"{{ .Values.image }}"`, 1), "<stdin>:1: this is a template, {{ .Values.image }} isn't a value: render it first"},
		"envsubst":         {strings.Replace(smb, ":v1.17.0", ":${TAG}", 1), "<stdin>:1: this is a template, mirror/sig-storage/smbplugin:${TAG} isn't a value"},
		"ytt":              {strings.Replace(smb, "mirror/sig-storage/smbplugin:v1.17.0", "#@ data.values.image", 1), "<stdin>:13: this is a template of ytt, and what it says isn't what is applied: render it first"},
		"ytt's overlay":    {"#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.subset({\"kind\": \"DaemonSet\"})\n---\nkind: DaemonSet\nspec: {}\n", "<stdin>:1: this is a template of ytt"},
		"duplicate":        {strings.Replace(smb, "        volumeMounts:", "        image: other:v1.0.0\n        volumeMounts:", 1), `<stdin>:14: this isn't YAML: unmarshal errors: mapping key "image" already defined at line 13`},
		"wrong type":       {strings.Replace(smb, "name: smb\n        image", "name: 12\n        image", 1), "<stdin>:1: this isn't a DaemonSet: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.name of type string"},
		"a list for a map": {strings.Replace(smb, "kubernetes.io/os: windows", "- windows", 1), "<stdin>:1: this isn't a DaemonSet: cannot unmarshal array into Go struct field PodSpec.spec.template.spec.nodeSelector"},
		"cyclic alias":     {"apiVersion: v1\nkind: Node\nmetadata: &m\n  name: n\n  labels: {a: *m}\n", "this isn't YAML: anchor 'm' value contains itself"},
		"cyclic merge":     {"apiVersion: v1\nkind: Node\nmetadata: &m\n  name: n\n  labels: &l {<<: *l}\n", "anchor 'l' value contains itself"},
		"alias bomb":       {bomb(), "document contains excessive aliasing"},
		"unknown alias":    {"apiVersion: v1\nkind: Node\nmetadata: *m\n", "this isn't YAML: unknown anchor 'm' referenced"},
		"deep":             {"apiVersion: v1\nkind: Node\nmetadata: {name: n, labels: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}\n", "metadata.labels of type map[string]string"},
		"absurdly deep":    {"a: " + strings.Repeat("[", 50000), "exceeded max depth"},
		"text":             {"Hello, this is a letter.\n", "<stdin>:1: this isn't a Kubernetes object"},
		"list":             {"- a\n- b\n", "<stdin>:1: this isn't a Kubernetes object"},
		"web page":         {"<!DOCTYPE html>\n<html><body>404: not found</body></html>\n", "<stdin>:2: this isn't YAML: mapping values are not allowed"},
		"binary":           {"\x7fELF\x02\x01\x00\x00", "<stdin>:1: it is binary"},
		"control byte":     {"a: \x01\n", "control characters are not allowed"},
		"not UTF-8":        {"a: \xff\xfe\n", "invalid leading UTF-8 octet"},
		"wrong home":       {strings.Replace(smb, "apps/v1", "v1", 1), "<stdin>:1: there is no DaemonSet in v1, it is of apps/v1"},
		"no name":          {"apiVersion: v1\nkind: Node\nmetadata: {}\n", "<stdin>:1: Node has no metadata.name"},
		"no apiVersion":    {"kind: Node\nmetadata: {name: n}\n", "<stdin>:1: Node has no apiVersion"},
		"no kind":          {"apiVersion: v1\nmetadata: {name: n}\nspec: {}\n", "<stdin>:1: an object has no kind"},
		"kind is a map":    {"apiVersion: v1\nkind: {{ .Values.kind }}\n", "<stdin>:2: "},
		"Template":         {"apiVersion: template.openshift.io/v1\nkind: Template\nmetadata: {name: n}\nobjects: []\n", "<stdin>:1: this is an OpenShift Template: render it first"},
		"JSON cut off":     {`{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"`, "<stdin>:1: this isn't JSON: it ends too early"},
		"JSON comma":       {"{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Node\",\n}", "<stdin>:4: this isn't JSON: invalid character '}'"},
		"JSON template":    {"{\n  \"apiVersion\": \"v1\",\n  \"kind\": {{ .Kind }}\n}", "<stdin>:3: this is a template"},
		"JSON type":        {"{\"apiVersion\": \"v1\", \"kind\": \"Node\",\n \"metadata\": {\"name\": \"n\", \"labels\":\n  {\"a\": 1}}}", "<stdin>:1: this isn't a Node: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(strings.TrimRight(c.text, "\n")+"\n"+namespace, "\n", eol)
			inv, _, err := stdin(t, text)
			told := ""
			if err != nil {
				told = err.Error()
			}
			for _, p := range inv.Problems {
				told += p.Where + ": " + p.What + "\n"
			}
			if !strings.Contains(told, c.want) {
				t.Errorf("%s: told\n%s\nwant %s", name, told, c.want)
			}
			fine := len(inv.Cluster.Namespaces) == 1
			if wholeFile := name == "binary"; fine == wholeFile {
				t.Errorf("%s: the namespace beside it was read: %v", name, fine)
			}
		}
	}
}

// Alone, each of them is an error: nothing could be read.
func TestNothing(t *testing.T) {
	for name, text := range map[string]string{
		"empty":    "",
		"comments": "# nothing\n---\n# at all\n",
		"null":     "---\nnull\n...\n",
		"letter":   "Hello, this is a letter.\n",
		"template": "{{ .Values.everything }}\n",
		"values":   "image: {repository: x, tag: y}\n",
		"broken":   "a: [\n",
		"binary":   "\x00\x01\x02",
		"JSON":     `{"a": 1}`,
		"half":     `{"a": `,
	} {
		inv, _, err := stdin(t, text)
		if err == nil {
			t.Errorf("%s: no error; problems %v", name, inv.Problems)
		}
	}
}

// The same driver is read in every form that editors and shells make of it.
func TestForms(t *testing.T) {
	wide := func(order func(uint16) []byte) string {
		b := order(0xfeff)
		for _, u := range utf16.Encode([]rune(smb)) {
			b = append(b, order(u)...)
		}
		return string(b)
	}
	indented := func(s string) string { return "  " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") }
	for name, text := range map[string]string{
		"plain":                  smb,
		"CRLF":                   strings.ReplaceAll(smb, "\n", "\r\n"),
		"byte order mark":        "\ufeff" + smb,
		"UTF-16":                 wide(func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }),
		"UTF-16 big":             wide(func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }),
		"no last newline":        strings.TrimRight(smb, "\n"),
		"markers":                "---\n---\n# a comment\n---\n" + smb + "---\n",
		"directive":              "%YAML 1.1\n---\n" + smb,
		"end marker":             namespace + "...\n" + smb + "...\n",
		"same line":              "--- # from helm\n" + smb,
		"List":                   "apiVersion: v1\nkind: List\nitems:\n- " + strings.TrimSpace(indented(smb)) + "\n",
		"typed List":             "apiVersion: apps/v1\nkind: DaemonSetList\nitems:\n- " + strings.TrimSpace(indented(strings.TrimPrefix(smb, upTo("metadata")))) + "\n",
		"List of Lists":          "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - " + strings.TrimSpace(strings.ReplaceAll(indented(smb), "\n", "\n  ")) + "\n",
		"items alone":            "- " + strings.TrimSpace(indented(smb)) + "\n",
		"JSON items alone":       "[" + jsonSMB + ",\n" + `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}` + "]",
		"anchors":                strings.NewReplacer("name: smb\n  namespace", "name: &n smb\n  namespace", "- name: smb", "- name: *n").Replace(smb),
		"merge":                  "x: &base\n  namespace: storage\n" + strings.Replace(smb, "  namespace: storage", "  <<: *base", 1),
		"folded":                 strings.Replace(smb, "image: mirror", "image: >-\n          mirror", 1),
		"unicode escapes":        strings.Replace(smb, "name: smb\n  namespace", "name: \"\\x73mb\"\n  namespace", 1),
		"flow style":             "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: smb, namespace: storage}, spec: {template: {spec: {nodeSelector: {kubernetes.io/os: windows}, containers: [{name: smb, image: 'mirror/sig-storage/smbplugin:v1.17.0', volumeMounts: [{name: pipe, mountPath: '\\\\.\\pipe\\csi-proxy-smb-v1'}]}], volumes: [{name: pipe, hostPath: {path: '\\\\.\\pipe\\csi-proxy-smb-v1'}}]}}}}",
		"JSON":                   jsonSMB,
		"JSON with tabs":         strings.ReplaceAll(jsonSMB, " ", "\t"),
		"JSON List":              `{"apiVersion": "v1", "items": [` + jsonSMB + `], "kind": "List"}`,
		"JSON one by one":        `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n", "annotations": {"a": "😀\ud83d\ude00"}}}` + "\n" + jsonSMB,
		"JSON typed List":        `{"apiVersion": "apps/v1", "items": [` + strings.Replace(jsonSMB, `"apiVersion": "apps/v1", "kind": "DaemonSet",`, "", 1) + `], "kind": "DaemonSetList"}`,
		"a large List":           "apiVersion: v1\nitems:\n- " + strings.TrimSpace(indented(smb)) + "\n" + strings.Repeat("- apiVersion: v1\n  kind: Secret\n  metadata: {name: x}\n  data: {a: "+strings.Repeat("b", 1000)+"}\n", large/1000) + "kind: List\n",
		"a large List, indented": "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n  - " + strings.TrimSpace(strings.ReplaceAll(indented(smb), "\n", "\n  ")) + "\n" + strings.Repeat("  # a comment\n", large/10),
	} {
		inv, _, err := stdin(t, text)
		if err != nil || len(inv.Problems) != 0 || len(inv.Drivers) != 1 {
			t.Errorf("%s: %d drivers, error %v, problems %v", name, len(inv.Drivers), err, inv.Problems)
			continue
		}
		d := inv.Drivers[0]
		if d.Provisioner != "smb.csi.k8s.io" || d.Object.String() != "DaemonSet storage/smb" || d.OS != "windows" || d.Version.Version.String() != "1.17.0" || len(d.Pipes) != 1 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

const jsonSMB = `{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "smb", "namespace": "storage"},
 "spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io\/os": "windows"},
  "containers": [{"name": "smb", "image": "mirror/sig-storage/smbplugin:v1.17.0", "volumeMounts": [{"name": "pipe", "mountPath": "\\\\.\\pipe\\csi-proxy-smb-v1"}]}],
  "volumes": [{"name": "pipe", "hostPath": {"path": "\\\\.\\pipe\\csi-proxy-smb-v1"}}]}}}}`

// Booleans and numbers are those of YAML 1.1, as kubectl has them.
func TestScalars(t *testing.T) {
	for text, want := range map[string]bool{"true": true, "yes": true, "On": true, "no": false, "off": false, "!!bool yes": true} {
		inv, _, err := stdin(t, strings.Replace(smb, "      nodeSelector:", "      securityContext: {windowsOptions: {hostProcess: "+text+"}}\n      nodeSelector:", 1))
		if err != nil || len(inv.Drivers) != 1 || inv.Drivers[0].HostProcess != want {
			t.Errorf("hostProcess: %s: %+v, %v %v", text, inv.Drivers, err, inv.Problems)
		}
	}
}

// A file of another kind doesn't drown the report.
func TestProblemsAreBounded(t *testing.T) {
	inv, src, err := stdin(t, namespace+strings.Repeat("---\nkind: Node\n", 5000))
	if err != nil || len(inv.Problems) != most+1 || !strings.Contains(inv.Problems[0].What+inv.Problems[most].What, "4,980 more problems") {
		t.Errorf("%d problems, %v: %v", len(inv.Problems), err, inv.Problems[0])
	}
	if want := "1 file, 5,001 documents, 5,000 problems"; src.Detail != want {
		t.Errorf("%q, want %q", src.Detail, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{smb, jsonSMB, bomb(), namespace, "{{ a }}", "- a", "a: *b", "&a [*a]", "<<: [*a]", "%TAG ! x\n---\n", "\ufeff{}", "\xff\xfea\x00", "? [a]\n: b", "a: !!binary x", "--- |\n a", "{\"items\": [1, {\"kind\": 3}], \"kind\": \"List\"}", "apiVersion: v1\nkind: NodeList\nitems: [{metadata: {name: 1}}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c := kube.NewCollector(kube.Options{Catalog: drivers()})
		_, err := Read(t.Context(), c, []string{"-"}, bytes.NewReader(src))
		inv := c.Inventory()
		for _, p := range inv.Problems {
			if p.Where == "" || p.What == "" {
				t.Errorf("a problem says nothing: %+v", p)
			}
		}
		if err != nil && err.Error() == "" {
			t.Error("an error says nothing")
		}
	})
}

// A name that no API server takes would be an option of a command: delete daemonset --all.
func TestNamesThatNobodyHas(t *testing.T) {
	for _, name := range []string{"--all", "a;b", "../x", "A", "a b"} {
		text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": %q}}`, name) + "\n" + jsonSMB
		c := kube.NewCollector(kube.Options{})
		if _, err := Read(t.Context(), c, []string{"-"}, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if p := c.Inventory().Problems; len(p) != 1 || !strings.Contains(p[0].What, "no API server takes the name of Namespace") {
			t.Errorf("%q: %v", name, p)
		}
	}
}
