package template_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/winbake/winbake/packer/lint"
	"github.com/winbake/winbake/packer/template"
)

// A folder is rendered, written, and held to the checklist.
func Example() {
	dir, err := os.MkdirTemp("", "template-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder, err := template.Render(template.Options{Platform: "vsphere-iso", Windows: template.Windows2022})
	if err != nil {
		log.Fatal(err)
	}
	dir = filepath.Join(dir, "images")
	if err := template.Write(context.Background(), dir, folder); err != nil {
		log.Fatal(err)
	}
	result, err := lint.Check(dir, lint.Options{Profile: "openshift"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(folder.Platform.Name, result.Sources)
	for _, f := range result.Findings {
		if f.Severity.String() == "BLOCK" {
			fmt.Println(f.ID, f.Object)
		}
	}
	// Output:
	// vsphere-iso [vsphere-iso.windows]
}
