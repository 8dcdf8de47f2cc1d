package template

import (
	"fmt"
	"strings"
)

// Skeleton is a var-file to fill in: what has to be given, and what may be, at
// its default and commented out. Secrets are named alone: they belong into the
// environment.
func (f *Folder) Skeleton() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Values for %s. Delete what stays at its default.\n", f.Platform.Name)
	part := func(title string, keep func(Variable) bool, line string) {
		fmt.Fprintf(&b, "\n# %s\n", title)
		for _, v := range f.Variables {
			if keep(v) {
				fmt.Fprintf(&b, "\n# %s\n"+line+"\n", v.Description, v.Name, v.example())
			}
		}
	}
	part("Values to give", func(v Variable) bool { return v.Required() && !v.Sensitive }, "%s = %s")
	part("Secrets, in the environment", func(v Variable) bool { return v.Sensitive }, "# PKR_VAR_%s=%s")
	part("Values with a default", func(v Variable) bool { return !v.Required() && !v.Sensitive }, "# %s = %s")
	return []byte(b.String())
}

// example is the variable's value in a skeleton.
func (v Variable) example() string {
	switch {
	case v.Sensitive:
		return "..."
	case v.Required():
		return map[string]string{"string": `""`, "list(string)": "[]"}[v.Type]
	}
	return v.Default
}
