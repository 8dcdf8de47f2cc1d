package answer_test

import (
	"fmt"

	"github.com/winbake/winbake/packer/answer"
)

// Windows Setup passes over a component in a pass that it doesn't have.
func ExampleCheck() {
	for _, p := range answer.Check([]byte(`<?xml version="1.0" encoding="utf-8"?>
<unattend xmlns="urn:schemas-microsoft-com:unattend">
  <settings pass="firstboot"/>
</unattend>`), true) {
		fmt.Println(p.Line, p.Kind, p.What)
	}
	// Output:
	// 3 pass there is no pass "firstboot"; there are windowsPE, offlineServicing, generalize, specialize, auditSystem, auditUser, oobeSystem
}
