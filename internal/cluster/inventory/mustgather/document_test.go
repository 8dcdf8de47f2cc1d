package mustgather

import (
	"strings"
	"testing"
)

func texts(docs []document) []string {
	var all []string
	for _, d := range docs {
		all = append(all, string(d.text))
	}
	return all
}

func TestDocuments(t *testing.T) {
	tests := []struct {
		name, src string
		lines     []int
		names     []string
	}{
		{"oc's form", pods, []int{4}, []string{"web-1"}},
		{"two", services, []int{4, 12}, []string{"windows-services-10.19.1-1a2b3c4", "kube-root-ca.crt"}},
		{"indented", "items:\n  - metadata:\n      name: a\n  -\n    metadata: {name: b}\nkind: List\n", []int{2, 4}, []string{"a", "b"}},
		{"dashes inside", "items:\n- metadata: {name: a}\n  x:\n  - y\n  - z: |\n      - text\n- metadata: {name: b}\n", []int{2, 7}, []string{"a", "b"}},
		{"comments and gaps", "items:\n# c\n- metadata:\n\n# d\n    name: a\n", []int{3}, []string{"a"}},
		{"CRLF", "items:\r\n- metadata:\r\n    name: a\r\n- metadata:\r\n    name: b\r\n", []int{2, 4}, []string{"a", "b"}},
		{"empty", "apiVersion: v1\nitems: []\nkind: PodList\n", nil, nil},
		{"no value", "items:\nkind: PodList\n", nil, nil},
		{"json", `{"kind":"PodList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]}`, []int{1, 1}, []string{"a", "b"}},
		{"flow", "items: [{metadata: {name: a}}]\n", []int{1}, []string{"a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			docs, err := documents("f", []byte(tt.src), true)
			if err != nil || len(docs) != len(tt.names) {
				t.Fatalf("%q, %v", texts(docs), err)
			}
			for i := range docs {
				h, err := docs[i].parse()
				if err != nil || h.Metadata.Name != tt.names[i] || docs[i].line != tt.lines[i] {
					t.Errorf("%+v at line %d, %v; want %s at %d", h, docs[i].line, err, tt.names[i], tt.lines[i])
				}
			}
		})
	}
	for _, src := range []string{"kind: PodList\n", "{", "items: 5\n", "- a\n"} {
		if docs, err := documents("f", []byte(src), true); err == nil {
			t.Errorf("%q gives %q", src, texts(docs))
		}
	}
}

func TestName(t *testing.T) {
	for src, want := range map[string]string{
		"---\napiVersion: v1\nmetadata:\n  annotations:\n    name: other\n  name: a-1.b\n": "a-1.b",
		"  metadata:\r\n    name: a\r\n":                          "a",
		"# c\nmetadata:\n\n    name: a\n  ":                       "a",
		"metadata:\n  labels: {}\nspec:\n  name: b\n":             "",
		"spec:\n  metadata:\n    name: b\nmetadata:\n  name: a\n": "a",
		"metadata:\n  name: \"a\"\n":                              "",
		"metadata: {name: a}\n":                                   "",
		`{"metadata":{"name":"a"}}`:                               "",
		"":                                                        "",
	} {
		if got := (&document{text: []byte(src)}).name(); got != want {
			t.Errorf("name of %q is %q, want %q", src, got, want)
		}
	}
}

func TestLocateInDocument(t *testing.T) {
	docs, err := documents("f.yaml", []byte(daemonSets), true)
	if err != nil || len(docs) != 1 {
		t.Fatal(err)
	}
	if _, err := docs[0].parse(); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][]any{nil, {"metadata", "name"}} {
		if got := docs[0].locate(at...); got != "f.yaml:4" {
			t.Errorf("locate(%v) = %s", at, got)
		}
	}
}

func TestDocumentFault(t *testing.T) {
	docs, err := documents("f", []byte("items:\n- metadata: {name: a}\n- metadata:\n    name: [b\n- metadata: {}\n"), true)
	if err != nil || len(docs) != 3 {
		t.Fatal(docs, err)
	}
	if _, err := docs[1].parse(); err == nil {
		t.Error("no error")
	} else if where, what := docs[1].fault(err); where != "f:4" && where != "f:5" || strings.Contains(what, "yaml:") {
		t.Errorf("%s: %s", where, what)
	}
	if _, err := docs[2].parse(); err == nil || !strings.Contains(err.Error(), "without metadata.name") {
		t.Errorf("%v", err)
	}
}

func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{pods, services, daemonSets, "items: []", "items:\n-", "items:\n- a: &x [*x]\n", `{"items":[{}]}`} {
		f.Add(seed, true)
	}
	f.Add(volume, false)
	f.Fuzz(func(t *testing.T, src string, isList bool) {
		docs, err := documents("f", []byte(src), isList)
		if err != nil {
			return
		}
		last := 0
		for i := range docs {
			if docs[i].line < last || docs[i].line > strings.Count(src, "\n")+1 {
				t.Errorf("document %d at line %d", i, docs[i].line)
			}
			last = docs[i].line
			docs[i].name()
			h, err := docs[i].parse()
			if err != nil {
				docs[i].fault(err)
				continue
			}
			if h.Metadata.Name == "" {
				t.Error("an object without a name")
			}
			docs[i].locate("metadata", "name")
			var m map[string]any
			if err := docs[i].decode(&m); err != nil {
				t.Error(err)
			}
		}
	})
}
