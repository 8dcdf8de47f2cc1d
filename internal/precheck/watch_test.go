package precheck

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func meta(name string, change func(*metav1.PartialObjectMetadata)) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
	if change != nil {
		change(o)
	}
	return o
}

// Heartbeats and status are no change; what verdicts rest on is.
func TestMarks(t *testing.T) {
	changes := 0
	m := &marks{of: resources[0].mark, changed: func() { changes++ }, seen: map[string]string{}}
	for _, step := range []struct {
		name string
		do   func() error
		want int
	}{
		{"first list", func() error { return m.Replace([]any{meta("a", nil), meta("b", nil)}, "1") }, 1},
		{"the same list again", func() error { return m.Replace([]any{meta("b", nil), meta("a", nil)}, "2") }, 1},
		{"a status", func() error {
			return m.Update(meta("a", func(o *metav1.PartialObjectMetadata) { o.ResourceVersion = "3" }))
		}, 1},
		{"a spec", func() error {
			return m.Update(meta("a", func(o *metav1.PartialObjectMetadata) { o.Generation = 2 }))
		}, 2},
		{"another", func() error { return m.Add(meta("c", nil)) }, 3},
		{"gone", func() error { return m.Delete(meta("b", nil)) }, 4},
		{"gone in a gap", func() error {
			return m.Replace([]any{meta("a", func(o *metav1.PartialObjectMetadata) { o.Generation = 2 })}, "9")
		}, 5},
		{"changed in a gap", func() error {
			return m.Replace([]any{meta("a", func(o *metav1.PartialObjectMetadata) { o.Generation = 3 })}, "9")
		}, 6},
	} {
		if err := step.do(); err != nil || changes != step.want {
			t.Fatalf("%s: %v, %d changes, want %d", step.name, err, changes, step.want)
		}
	}
	if len(m.seen) != 1 {
		t.Errorf("it keeps %v", m.seen)
	}
	if m.Add("text") == nil || m.Replace([]any{"text"}, "") == nil {
		t.Error("a text is taken for an object")
	}
}

func TestOffers(t *testing.T) {
	version := func(status map[string]any) metav1.Object {
		return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "version"}, "status": status}}
	}
	release := func(v string) map[string]any { return map[string]any{"version": v, "image": "x"} }
	base := offers(version(map[string]any{"availableUpdates": []any{release("4.20.3")}}))
	for name, c := range map[string]struct {
		status map[string]any
		same   bool
	}{
		"a condition":           {map[string]any{"availableUpdates": []any{release("4.20.3")}, "conditions": []any{map[string]any{"type": "Upgradeable"}}}, true},
		"another update":        {map[string]any{"availableUpdates": []any{release("4.20.3"), release("4.20.4")}}, false},
		"conditional":           {map[string]any{"conditionalUpdates": []any{map[string]any{"release": release("4.20.3")}}}, false},
		"an update that began":  {map[string]any{"availableUpdates": []any{release("4.20.3")}, "history": []any{map[string]any{"version": "4.20.3", "state": "Partial"}}}, false},
		"no updates any longer": {map[string]any{"availableUpdates": nil}, false},
	} {
		if got := offers(version(c.status)) == base; got != c.same {
			t.Errorf("%s: same is %v", name, got)
		}
	}
}
