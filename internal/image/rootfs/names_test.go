package rootfs

import "testing"

func TestEntryNames(t *testing.T) {
	for name, want := range map[string]string{
		"payload/a": "payload/a", "./payload/a/": "payload/a", "payload//a": "payload/a", "/payload/a": "!payload/a",
		"../payload/a": "!payload/a", "x/../payload": "!payload", "..": "!", "payload/..a": "payload/..a", "payload/a/..": "!payload",
	} {
		clean, wrong := entryName(name)
		if wrong != "" {
			clean = "!" + clean
		}
		if clean != want {
			t.Errorf("entryName(%q) = %s, want %s", name, clean, want)
		}
	}
}
