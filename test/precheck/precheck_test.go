package precheck_test

import "testing"

// TestInCluster is of one cluster, which its parts change one after another.
func TestInCluster(t *testing.T) {
	s := openShiftCluster(t)
	t.Run("taken", func(t *testing.T) { testTaken(t, s) })
	t.Run("printed", func(t *testing.T) { testPrinted(t, s) })
	t.Run("alerts", func(t *testing.T) { testAlerts(t, s) })
	t.Run("metrics", func(t *testing.T) { testMetrics(t, s) })
	t.Run("targets", func(t *testing.T) { testTargets(t, s) })
	t.Run("stop", func(t *testing.T) { testStop(t, s) })
	t.Run("changes", func(t *testing.T) { testChange(t, s) })
	t.Run("away", func(t *testing.T) { testAway(t, s) })
	t.Run("memory", func(t *testing.T) { testMemory(t, s) })
	t.Run("role", func(t *testing.T) { testRole(t, s) }) // last: it takes rights away
}
