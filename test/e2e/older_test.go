//go:build e2e && rehearsal

package e2e

import "testing"

const older = "examples/openshift-4.15/versions.yaml"

func TestOlderPayload(t *testing.T) {
	c := newClone(t)
	out, _ := c.run(t, "make", "payload", "F="+older)
	published(t, "examples/README.md", lastDigest(out))
	c.run(t, "bin/verify", "payload", "_output/image", "-f", older)
}
