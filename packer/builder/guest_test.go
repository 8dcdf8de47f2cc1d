package builder

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25/types"
)

var update = flag.Bool("update", false, "write guestids.go anew")

// TestGuestIDs holds the list to govmomi's enumeration. The commands don't
// import govmomi for it: its types would be a third of verify.
func TestGuestIDs(t *testing.T) {
	ids := types.VirtualMachineGuestOsIdentifier("").Strings()
	slices.Sort(ids)
	if *update {
		var b strings.Builder
		b.WriteString("package builder\n\n// guestIDs are those that vCenter knows: VirtualMachineGuestOsIdentifier of\n// https://github.com/vmware/govmomi v0.52.0. A test keeps them current.\nvar guestIDs = []string{\n")
		for _, id := range ids {
			fmt.Fprintf(&b, "\t%q,\n", id)
		}
		b.WriteString("}\n")
		source, err := format.Source([]byte(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("guestids.go", source, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !slices.Equal(guestIDs, ids) {
		t.Error("guestids.go isn't govmomi's list: go test ./packer/builder -run GuestIDs -update")
	}
}
