package answer

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed autounattend.xml
var autounattend string

//go:embed unattend.xml
var unattend string

// The namespace and the key that every component of Windows carries.
const (
	namespace = "urn:schemas-microsoft-com:unattend"
	publicKey = "31bf3856ad364e35"
)

// VarHostPrefix is the variable of templatefile for what host names begin with. The
// others are in the files, beside what they are for.
const VarHostPrefix = "host_name_prefix"

// BuildOptions shape autounattend.xml.
type BuildOptions struct {
	// DriverFolders are looked for on every likely drive letter, since letters
	// depend on how many CDs and disks there are: Program Files\...\pvscsi.
	DriverFolders []string
	// FirstLogon is the command line that makes the machine reachable.
	FirstLogon string
}

// driveLetters are those that Windows Setup may give to CDs; C: too, as long as
// the disk is empty.
const driveLetters = "CDEFGHI"

// Build is the answer file of the installation: unattended, one disk, the
// administrator logged on once to run FirstLogon.
func Build(o BuildOptions) ([]byte, error) {
	drivers := map[int]string{} // by their key in the file, from 1
	for _, letter := range driveLetters {
		for _, folder := range o.DriverFolders {
			drivers[len(drivers)+1] = string(letter) + `:\` + folder
		}
	}
	return fill(autounattend, map[string]any{"Drivers": drivers, "FirstLogon": o.FirstLogon})
}

// GeneralizeOptions shape unattend.xml.
type GeneralizeOptions struct {
	// Specialize is the command line that names the machine, "" for none. It
	// ends with 1 where Windows has to restart for that
	// (https://learn.microsoft.com/windows-hardware/customize/desktop/unattend/microsoft-windows-deployment-runsynchronous-runsynchronouscommand-willreboot).
	Specialize string
}

// Generalize is the answer file that sysprep leaves in the image: nobody is
// logged on by itself, and the password is one that nobody is told.
func Generalize(o GeneralizeOptions) ([]byte, error) { return fill(unattend, o) }

func fill(file string, values any) ([]byte, error) {
	var b bytes.Buffer
	if err := template.Must(template.New("").Parse(file)).Execute(&b, values); err != nil {
		return nil, fmt.Errorf("write the answer file: %w", err)
	}
	return b.Bytes(), nil
}

// passes are the configuration passes of Windows Setup, in their order.
var passes = []string{"windowsPE", "offlineServicing", "generalize", "specialize", "auditSystem", "auditUser", "oobeSystem"}

// components are the passes in which Windows reads a component, one a line, from
// Microsoft's reference.
//
//go:embed components.txt
var components string

// passesOf are those of a component, none for one that isn't known.
func passesOf(component string) []string {
	for line := range strings.Lines(components) {
		if fields := strings.Fields(line); fields[0] == component {
			return fields[1:]
		}
	}
	return nil
}
