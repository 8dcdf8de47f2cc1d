package builder

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vmware/govmomi/vim25/types"
)

var update = flag.Bool("update", false, "rewrite guestids.txt")

// TestGuestIDs holds the list to govmomi's enumeration. The commands don't
// import govmomi for it: its types would be a third of verify.
func TestGuestIDs(t *testing.T) {
	ids := types.VirtualMachineGuestOsIdentifier("").Strings()
	slices.Sort(ids)
	list := strings.Join(ids, "\n") + "\n"
	if *update {
		if err := os.WriteFile("guestids.txt", []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if guestIDs != list {
		t.Error("guestids.txt isn't govmomi's list: go test ./packer/builder -run GuestIDs -update")
	}
}
