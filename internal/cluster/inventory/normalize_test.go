package inventory

import (
	"encoding/json"
	"slices"
	"testing"
)

// The same facts in another order print the same bytes.
func TestNormalize(t *testing.T) {
	inv := func() *Inventory {
		return &Inventory{
			Drivers: []Driver{
				{Object: Object{"DaemonSet", "b", "x"}, Pipes: []Pipe{{Group: "volume", Version: "v1"}, {Group: "disk", Version: "v1"}}},
				{Object: Object{"DaemonSet", "a", "y"}, Running: []Running{{Image: Image{Reference: "b"}, Nodes: []string{"2", "1"}}, {Image: Image{Reference: "a"}}}},
			},
			SetAside:  []SetAside{{Object: Object{"DaemonSet", "", "b"}}, {Object: Object{"DaemonSet", "", "a"}}},
			Nodes:     []Node{{Name: "b"}, {Name: "a"}},
			CSINodes:  []CSINode{{Name: "b", Drivers: []string{"z", "y"}}, {Name: "a", Migrated: []string{"z", "y"}}},
			Proxies:   []Proxy{{Object: Object{"DaemonSet", "", "b"}}, {Object: Object{"DaemonSet", "", "a"}}},
			Volumes:   []VolumeUse{{Pod: Object{"Pod", "n", "b"}}, {Pod: Object{"Pod", "n", "a"}, Volume: "y"}, {Pod: Object{"Pod", "n", "a"}, Volume: "x"}},
			Leftovers: []Leftover{{Object: Object{"PersistentVolume", "", "b"}}, {Object: Object{"PersistentVolume", "", "a"}}},
			Payloads:  []Payload{{Version: "4.20.1"}, {Version: "4.19.1"}},
			Problems:  []Problem{{Where: "b"}, {Where: "a", What: "y"}, {Where: "a", What: "x"}},
			Cluster: Cluster{
				AdminAcks: []string{"b", "a"}, Namespaces: []Namespace{{Name: "b"}, {Name: "a"}}, Pools: []Pool{{Name: "b"}, {Name: "a"}},
				Conditions: []Condition{{Type: "b"}, {Type: "a"}}, AdminGates: []AdminGate{{Key: "b"}, {Key: "a"}}, CSIDrivers: []ClusterCSIDriver{{Name: "b"}, {Name: "a"}},
				Services: []ServiceList{{WMCO: "b"}, {WMCO: "a"}}, Evidence: []Evidence{{Where: "b"}, {Where: "a"}},
			},
		}
	}
	text := func(i *Inventory) string {
		b, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first, second := inv(), inv()
	slices.Reverse(second.Drivers)
	slices.Reverse(second.SetAside)
	slices.Reverse(second.Nodes)
	slices.Reverse(second.CSINodes)
	slices.Reverse(second.Proxies)
	slices.Reverse(second.Volumes)
	slices.Reverse(second.Leftovers)
	slices.Reverse(second.Payloads)
	slices.Reverse(second.Problems)
	slices.Reverse(second.Cluster.Services)
	slices.Reverse(second.Cluster.Evidence)
	slices.Reverse(second.Cluster.Namespaces)
	slices.Reverse(second.Cluster.Pools)
	slices.Reverse(second.Cluster.Conditions)
	slices.Reverse(second.Cluster.AdminGates)
	slices.Reverse(second.Cluster.CSIDrivers)
	first.Normalize()
	second.Normalize()
	if text(first) != text(second) {
		t.Errorf("%s\n%s", text(first), text(second))
	}
	if p := first.Drivers[1].Pipes; p[0].Name() != "disk-v1" || first.Drivers[0].Running[1].Nodes[0] != "1" || first.Cluster.AdminAcks[0] != "a" {
		t.Errorf("not sorted: %s", text(first))
	}
}
