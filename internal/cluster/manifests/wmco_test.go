package manifests

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const good = `[{"name":"a","path":"x","bootstrap":true,"priority":0},{"name":"b","path":"y","dependencies":["a"],"bootstrap":false,"priority":1}]`

func TestParseDataAccepts(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"two keys":      {"services": good, "files": "[]"},
		"four keys":     {"services": good, "files": `[{"path":"C:\\k\\a","checksum":"` + strings.Repeat("0", 64) + `"}]`, "environmentVars": `{"NO_PROXY":".svc"}`, "watchedEnvironmentVars": `["NO_PROXY"]`},
		"null to watch": {"services": good, "files": "[]", "watchedEnvironmentVars": "null"}, // WMCO writes it
		"none":          {"services": "[]", "files": "[]"},
		"foreign dependency": {"services": `[{"name":"a","path":"x","dependencies":["RpcSs"],"bootstrap":true,"priority":0}]`,
			"files": "[]"},
		"everything": {"services": `[{"name":"a","path":"x N","nodeVariablesInCommand":[{"name":"N","nodeObjectJsonPath":"{.a}"}],` +
			`"powershellPreScripts":[{"variableName":"V","path":"p","NodeArgs":null},{"path":"q","NodeArgs":[{"name":"N","nodeObjectJsonPath":"{.a}"}]}],"bootstrap":false,"priority":7}]`, "files": "[]"},
	} {
		if _, err := ParseData(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The cases that WMCO refuses (pkg/servicescm/servicescm.go).
func TestParseDataRefusesWhatWMCORefuses(t *testing.T) {
	for name, c := range map[string]struct{ services, want string }{
		"not JSON":                    {`[{`, "services: "},
		"no list":                     {`{}`, "services: "},
		"negative priority":           {`[{"name":"a","path":"x","priority":-1}]`, "services: "},
		"same priority":               {`[{"name":"a","path":"x","bootstrap":true,"priority":1},{"name":"b","path":"y","bootstrap":false,"priority":1}]`, "must not overlap"},
		"bootstrap later":             {`[{"name":"a","path":"x","bootstrap":true,"priority":2},{"name":"b","path":"y","bootstrap":false,"priority":1}]`, "must be higher than all controller services"},
		"bootstrap reads the node":    {`[{"name":"a","path":"x N","nodeVariablesInCommand":[{"name":"N","nodeObjectJsonPath":"{.a}"}],"bootstrap":true,"priority":0}]`, "cannot require node variables"},
		"bootstrap depends on others": {`[{"name":"a","path":"x","dependencies":["b"],"bootstrap":true,"priority":0},{"name":"b","path":"y","bootstrap":false,"priority":1}]`, "cannot depend on non-bootstrap"},
		"on itself":                   {`[{"name":"a","path":"x","dependencies":["a"],"bootstrap":false,"priority":0}]`, "cyclical"},
		"cycle of two":                {`[{"name":"a","path":"x","dependencies":["b"],"bootstrap":false,"priority":0},{"name":"b","path":"y","dependencies":["a"],"bootstrap":false,"priority":0}]`, "cyclical"},
		// No cycle, but WMCO sees one: a stands before what it depends on.
		"dependency stands later": {`[{"name":"a","path":"x","dependencies":["b"],"bootstrap":false,"priority":0},{"name":"b","path":"y","bootstrap":false,"priority":0},{"name":"c","path":"z","dependencies":["a"],"bootstrap":false,"priority":0}]`, "cyclical"},
	} {
		if _, err := ParseData(map[string]string{"services": c.services, "files": "[]"}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for name, data := range map[string]map[string]string{
		"one key":     {"services": good},
		"no services": {"files": "[]", "environmentVars": "{}"},
		"no files":    {"services": good, "environmentVars": "{}"},
		"five keys":   {"services": good, "files": "[]", "environmentVars": "{}", "watchedEnvironmentVars": "[]", "more": ""},
		"bad files":   {"services": good, "files": "{}"},
		"bad watched": {"services": good, "files": "[]", "watchedEnvironmentVars": "{}"},
		"bad environment": {"services": good, "files": "[]",
			"environmentVars": "[]"},
	} {
		if _, err := ParseData(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What WMCO lets pass and then goes wrong on a node.
func TestParseDataIsStricter(t *testing.T) {
	for name, c := range map[string]struct{ services, files, want string }{
		"unknown key":       {`[{"name":"a","command":"x","bootstrap":false,"priority":0}]`, "[]", "unknown field"},
		"no command":        {`[{"name":"a","bootstrap":false,"priority":0}]`, "[]", "no command"},
		"no name":           {`[{"path":"a","bootstrap":false,"priority":0}]`, "[]", "no name"},
		"twice":             {`[{"name":"a","path":"x","bootstrap":false,"priority":0},{"name":"a","path":"y","bootstrap":false,"priority":0}]`, "[]", "twice"},
		"variable":          {`[{"name":"a","path":"x","nodeVariablesInCommand":[{"name":"N"}],"bootstrap":false,"priority":0}]`, "[]", "node variable"},
		"script":            {`[{"name":"a","path":"x","powershellPreScripts":[{"variableName":"V","NodeArgs":null}],"bootstrap":false,"priority":0}]`, "[]", "script without a command"},
		"null services":     {"null", "[]", "not null"},
		"null files":        {good, "null", "not null"},
		"file without sum":  {good, `[{"path":"C:\\k\\a"}]`, "no sha256"},
		"sum in upper case": {good, `[{"path":"C:\\k\\a","checksum":"` + strings.Repeat("A", 64) + `"}]`, "no sha256"},
		"two values":        {good + good, "[]", "follows the value"},
		"cycle behind":      {`[{"name":"a","path":"x","dependencies":["z","b"],"bootstrap":false,"priority":0},{"name":"b","path":"y","dependencies":["b"],"bootstrap":false,"priority":0},{"name":"z","path":"y","bootstrap":false,"priority":0}]`, "[]", "b"},
	} {
		if _, err := ParseData(map[string]string{"services": c.services, "files": c.files}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestParseConfigMapRefuses(t *testing.T) {
	text, err := os.ReadFile("testdata/services.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, replacement, want string }{
		"mutable":     {"immutable: true", "immutable: false", "isn't immutable"},
		"kind":        {"kind: ConfigMap", "kind: Secret", "isn't a ConfigMap"},
		"name":        {"name: windows-services-", "name: linux-services-", "isn't the name"},
		"namespace":   {"namespace: openshift", "namespace: OpenShift", "isn't the name"},
		"unknown key": {"immutable: true", "immutable: true\nbinaryData: {}", `unknown key "binaryData"`},
		"data":        {"data:", "data: []\nx:", "must be a mapping"},
		"files":       {"  files: '[]'\n", "", "key files is missing"},
		"two":         {"apiVersion: v1", "apiVersion: v1\nkind: Namespace\nspec: {}\n---\napiVersion: v1", "a.yaml:5:1: a second document; the services ConfigMap has one"},
		"three":       {"immutable: true", "immutable: true\n---\na: b\n---\n---\nc: d", "a second document"},
	} {
		changed := strings.Replace(string(text), c.old, c.replacement, 1)
		if changed == string(text) {
			t.Errorf("%s: nothing to replace", name)
		}
		if _, err := ParseConfigMap("a.yaml", []byte(changed)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, around := range []string{"---\n%s", "# made by bake\n---\n%s", "%s---\n", "%s---\n# the end\n...\n"} {
		if _, err := ParseConfigMap("a.yaml", fmt.Appendf(nil, around, text)); err != nil {
			t.Errorf("one document in %q: %v", around, err)
		}
	}
	if _, err := ParseConfigMap("a.yaml", make([]byte, maxConfigMap+1)); err == nil {
		t.Error("a ConfigMap that no API server stores was read")
	}
}

// FuzzParseConfigMap: nothing makes it panic, and what it takes is written and
// read back the same.
func FuzzParseConfigMap(f *testing.F) {
	// Short ones: long ones take minutes to be made smaller.
	for _, services := range []string{"[]", good, `[{"name":"a","path":"b","bootstrap":false,"priority":1}]`} {
		f.Add([]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: windows-services-1, namespace: a}\nimmutable: true\ndata:\n  files: '[]'\n  services: '" + services + "'\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseConfigMap("a.yaml", text)
		if err != nil {
			return
		}
		written, err := c.YAML()
		if err != nil {
			t.Fatalf("%q was read and can't be written: %v", text, err)
		}
		if again, err := ParseConfigMap("a.yaml", written); err != nil || len(again.Services) != len(c.Services) || again.Name != c.Name {
			t.Errorf("%s\nis read back as %+v, %v", written, again, err)
		}
	})
}
