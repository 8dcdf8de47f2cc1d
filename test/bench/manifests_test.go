package main

import "testing"

// The baseline reads what it says that it reads.
func TestDecode(t *testing.T) {
	dir := t.TempDir()
	if err := writeManifests(dir); err != nil {
		t.Fatal(err)
	}
	if err := decode(dir); err != nil {
		t.Fatal(err)
	}
	if err := decode(t.TempDir()); err == nil {
		t.Error("an empty folder holds all documents")
	}
}
