package skew_test

import (
	"reflect"
	"testing"

	"github.com/winbake/winbake/internal/skew"
)

// What judges again and again in a cluster needs no plan, and says what one that
// plans does.
func TestEvaluateWithoutThePlan(t *testing.T) {
	c := testCatalog(t)
	for _, to := range []string{"", "4.20", "4.22"} {
		r := skew.Request{From: "4.19", To: to, Now: c.AsOf}
		r.NoPlan = true
		judged, err := skew.Evaluate(c, storageCluster("4.19", "10.19.1"), r)
		if err != nil {
			t.Fatal(err)
		}
		r.NoPlan = false
		whole, err := skew.Evaluate(c, storageCluster("4.19", "10.19.1"), r)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Steps) == 0 || len(judged.Steps) != 0 {
			t.Errorf("to %q: %d steps, and %d without the plan", to, len(whole.Steps), len(judged.Steps))
		}
		whole.Steps = nil
		for i := range whole.Drivers {
			whole.Drivers[i].WindowsBefore, whole.Drivers[i].WindowsAfter = "", ""
		}
		if !reflect.DeepEqual(judged, whole) {
			t.Errorf("to %q: %+v\nwant %+v", to, judged, whole)
		}
	}
}
