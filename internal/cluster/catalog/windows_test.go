package catalog

import "testing"

func TestHasImageFor(t *testing.T) {
	for _, tc := range []struct {
		name    string
		images  []int
		build   int
		runtime string
		want    bool
	}{
		{name: "the same build", images: []int{17763, 20348}, build: 20348, want: true},
		{name: "2025 runs an image of 2022", images: []int{17763, 20348}, build: 26100, runtime: "containerd://1.7.27", want: true},
		{name: "23H2 too", images: []int{20348}, build: 25398, runtime: "containerd://2.1.4", want: true},
		{name: "what follows 2025 too, before containerd 2.2", images: []int{20348}, build: 27842, runtime: "containerd://2.1.4", want: true},
		{name: "and not from containerd 2.2 on", images: []int{20348}, build: 27842, runtime: "containerd://2.2.0"},
		{name: "but images of 2025", images: []int{26100}, build: 27842, runtime: "containerd://2.2.0", want: true},
		{name: "what follows 2025, an unknown containerd", images: []int{20348}, build: 27842},
		{name: "WMCO's own version of containerd", images: []int{20348}, build: 26100, runtime: "containerd://v1.6.24-7-gb93c35c9c", want: true},
		{name: "2025 doesn't run an image of 2019", images: []int{17763}, build: 26100},
		{name: "nor of 20H2", images: []int{19042}, build: 26100},
		{name: "an image newer than the host", images: []int{26100}, build: 20348},
		{name: "2019 wants its own", images: []int{20348}, build: 17763},
		{name: "before 1.6.23", images: []int{20348}, build: 26100, runtime: "containerd://1.6.22"},
		{name: "from 1.6.23 on", images: []int{20348}, build: 26100, runtime: "containerd://1.6.23", want: true},
		{name: "before 1.7.6", images: []int{20348}, build: 26100, runtime: "containerd://1.7.5"},
		{name: "from 1.7.6 on", images: []int{20348}, build: 26100, runtime: "containerd://1.7.6", want: true},
		{name: "long before", images: []int{20348}, build: 26100, runtime: "containerd://1.4.13"},
		{name: "another runtime", images: []int{20348}, build: 26100, runtime: "docker", want: true},
		{name: "no build is known", images: []int{20348}},
		{name: "no image is known", build: 20348},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &Line{Builds: tc.images}
			if got := l.HasImageFor(tc.build, tc.runtime); got != tc.want {
				t.Errorf("HasImageFor(%d, %q) of %v: %v", tc.build, tc.runtime, tc.images, got)
			}
		})
	}
}

// A distribution's build isn't older than the release, a candidate is.
func TestContainerdVersion(t *testing.T) {
	for runtime, want := range map[string]string{"containerd://2.3.6": "2.3.6", "containerd://2.3.6-k3s1": "2.3.6", "containerd://2.1.0-rc.1": "2.1.0-rc.1", "containerd://2.1.0-beta.0": "2.1.0-beta.0", "containerd://1.7.28+azure": "1.7.28+azure"} {
		if got := ContainerdVersion(runtime); got == nil || got.String() != want {
			t.Errorf("%s is %v, want %s", runtime, got, want)
		}
	}
	for _, runtime := range []string{"", "docker://20.10.9", "containerd://Unknown"} {
		if got := ContainerdVersion(runtime); got != nil {
			t.Errorf("%s is %s", runtime, got)
		}
	}
}

func TestHostProcessOn(t *testing.T) {
	for runtime, want := range map[string][3]bool{
		"containerd://1.5.18": {false, false, true}, "docker://20.10.9": {false, false, true},
		"containerd://1.6.0": {true, false, true}, "containerd://v1.6.24-7-gb93c35c9c": {true, false, true},
		"containerd://1.7.0": {true, true, true}, "containerd://2.0.1": {true, true, true},
		"": {}, "containerd://": {}, "cri-o://1.30.0": {}, "1.7.27": {},
	} {
		runs, binds, known := HostProcessOn(runtime)
		if got := [3]bool{runs, binds, known}; got != want {
			t.Errorf("%q: %v, want %v", runtime, got, want)
		}
	}
}
