package app

import (
	"runtime/debug"
	"testing"
)

func TestReadBuild(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}
	for name, tt := range map[string]struct {
		info            debug.BuildInfo
		version, commit string // as a release's build sets them
		want            Build
	}{
		"go install of a release":  {debug.BuildInfo{Main: debug.Module{Path: Module, Version: "v1.2.3"}}, "", "", Build{Version: "v1.2.3", Released: true}},
		"checkout":                 {debug.BuildInfo{Main: debug.Module{Path: Module, Version: "(devel)"}, Settings: settings}, "", "", Build{Version: "devel-0123456789ab", Commit: "0123456789abcdef", Modified: true}},
		"checkout at a tag":        {debug.BuildInfo{Main: debug.Module{Path: Module, Version: "v1.2.3"}, Settings: settings[:1]}, "", "", Build{Version: "v1.2.3", Commit: "0123456789abcdef"}},
		"checkout without its git": {debug.BuildInfo{Main: debug.Module{Path: Module, Version: "(devel)"}}, "", "", Build{Version: "(devel)"}},
		"release":                  {debug.BuildInfo{Main: debug.Module{Path: Module, Version: "(devel)"}, Settings: settings}, "1.2.3", "fedc", Build{Version: "v1.2.3", Commit: "fedc", Released: true}},
		"no build info":            {debug.BuildInfo{}, "", "", Build{Version: "unknown"}},
	} {
		version, commit = tt.version, tt.commit
		got := readBuild(&tt.info)
		got.Go, got.Platform = "", ""
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	version, commit = "", ""
}
