package manifests

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
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

// FuzzParseData: nothing makes it panic, and what it takes is written and read
// back the same.
func FuzzParseData(f *testing.F) {
	// Short ones: long ones take minutes to be made smaller.
	for _, services := range []string{"[]", good, `[{"name":"a","path":"b","bootstrap":false,"priority":1}]`} {
		f.Add(services, "[]")
	}
	f.Fuzz(func(t *testing.T, services, files string) {
		c, err := ParseData(map[string]string{keyServices: services, keyFiles: files})
		if err != nil {
			return
		}
		c.Name, c.Namespace = NamePrefix+"1", Namespace
		written, err := c.YAML()
		if err != nil {
			t.Fatalf("%q and %q were read and can't be written: %v", services, files, err)
		}
		if again := readBack(t, written); len(again.Services) != len(c.Services) || len(again.Files) != len(c.Files) {
			t.Errorf("%s\nis read back as %+v", written, again)
		}
	})
}

// readBack is what an API server and WMCO see in a written ConfigMap.
func readBack(t *testing.T, written []byte) *ConfigMap {
	t.Helper()
	var object corev1.ConfigMap
	if err := yaml.UnmarshalStrict(written, &object); err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	if object.Immutable == nil || !*object.Immutable {
		t.Errorf("WMCO replaces a ConfigMap that isn't immutable:\n%s", written)
	}
	c, err := ParseData(object.Data)
	if err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	c.Name, c.Namespace = object.Name, object.Namespace
	return c
}
