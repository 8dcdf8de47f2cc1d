package program

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
)

func TestLicenses(t *testing.T) {
	apache, err := os.ReadFile(filepath.FromSlash("../../../../LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	const pass = "Permission is hereby granted, free of charge, to any person obtaining a copy"
	for name, c := range map[string]struct {
		files map[string]string
		ids   []string
		texts []string // as files
	}{
		"licence and notice":         {map[string]string{"LICENSE": string(apache), "NOTICE": "of Apache-2.0", "README.md": "MIT"}, []string{"Apache-2.0"}, []string{"LICENSE", "NOTICE"}},
		"code that is called so":     {map[string]string{"license.go": "package license // " + pass, "Copying.txt": string(apache)}, []string{"Apache-2.0"}, []string{"Copying.txt"}},
		"a text of no known licence": {map[string]string{"LICENCE": "ask me"}, []string{noLicense}, []string{"LICENCE"}},
		"nothing":                    {nil, []string{noLicense}, nil},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		all, want := pins.LicenseTexts{}, pins.LicenseTexts{}
		ids, texts := Licenses(dir, all)
		var expected []string
		for _, file := range c.texts {
			expected = append(expected, want.Add([]byte(c.files[file])))
		}
		slices.Sort(expected)
		if !slices.Equal(ids, c.ids) || !slices.Equal(texts, expected) || len(all) != len(want) {
			t.Errorf("%s: %v %v, want %v %v", name, ids, texts, c.ids, expected)
		}
	}
	if ids, texts := Licenses(filepath.Join(t.TempDir(), "none"), pins.LicenseTexts{}); !slices.Equal(ids, []string{noLicense}) || texts != nil {
		t.Errorf("no folder: %v %v", ids, texts)
	}
}
