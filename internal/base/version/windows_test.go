package version

import "testing"

func TestWindowsBuild(t *testing.T) {
	for kernel, want := range map[string]int{
		"10.0.20348.2340": 20348, "10.0.26100": 26100, "10.0.17763.": 17763, "5.14.0-427": 0, "": 0, "10.0": 0, "10.0.x.1": 0, "10.0.-5": 0, "6.3.9600": 0,
		"10.0.20348.2527": 20348, "a.b.c": 0,
	} {
		if got := WindowsBuild(kernel); got != want {
			t.Errorf("%q: %d, want %d", kernel, got, want)
		}
	}
}
