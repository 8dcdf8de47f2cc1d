package images

import (
	"testing"

	"github.com/winbake/winbake/payload"
)

func TestReleaseOf(t *testing.T) {
	const oci = "org.opencontainers.image.version"
	for _, c := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{oci: "4.20"}, "4.20"},
		{map[string]string{oci: "5.0"}, "5.0"},
		{map[string]string{"version": "v10.20.1"}, "4.20"},
		{map[string]string{"version": "10.9"}, "4.9"},
		{map[string]string{oci: "v10.19.0-1a2b3c4"}, "4.19"},
		{map[string]string{"version": "v11.0.0"}, "5.0"},
		{map[string]string{"version": "11.1"}, "5.1"},
		{map[string]string{oci: "5.1.0"}, ""}, // WMCO's, of OpenShift 4.10
		{map[string]string{"version": "v7.2.3"}, "4.12"},
		{map[string]string{"version": "8.1.4-0a1b2c3"}, "4.13"},
		{map[string]string{"version": "v9.0.4"}, "4.14"},
		{map[string]string{"version": "9.6"}, ""}, // UBI's
		{map[string]string{oci: "9.0.4"}, ""},
		{map[string]string{"version": "110.20"}, ""},
		{nil, ""},
	} {
		if got := payload.ReleaseOf(c.labels); got != c.want {
			t.Errorf("ReleaseOf(%v) = %q, want %q", c.labels, got, c.want)
		}
	}
}
