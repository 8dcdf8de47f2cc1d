package lint

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/internal/expression"
)

// doubling are locals of which each is the one before in this expression, which
// has it as %[1]s.
func doubling(expression string) string {
	lines := []string{`a0 = "xxxxxxxxxx"`}
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("a%d = ", i+1)+fmt.Sprintf(expression, fmt.Sprintf("local.a%d", i)))
	}
	return strings.Join(lines, "\n")
}

// What fills memory is UNKNOWN, and takes neither the memory nor the time.
func TestLargeValues(t *testing.T) {
	for name, locals := range map[string]string{
		"twice":               doubling(`"${%[1]s}${%[1]s}"`),
		"twice in a list":     doubling(`[%[1]s, %[1]s]`),
		"twice in an object":  doubling(`{a = %[1]s, b = %[1]s}`),
		"joined":              doubling(`join(%[1]s, [%[1]s, %[1]s])`),
		"replaced":            doubling(`replace("${%[1]s}x", "x", %[1]s)`),
		"formatted":           doubling(`format("%%s%%s", %[1]s, %[1]s)`),
		"tried":               doubling(`try("${%[1]s}${%[1]s}", "")`),
		"encoded":             doubling(`base64encode(%[1]s)`),
		"squared":             "n0 = [1, 2, 3, 4, 5, 6, 7, 8]\n" + strings.ReplaceAll(doubling(`flatten([for a in %[1]s : [for b in %[1]s : "${a}${b}"]])`), "a0 =", "n1 =") + "\na0 = local.n0",
		"letters of a text":   doubling(`join("", [for c in split("", %[1]s) : %[1]s])`),
		"a number":            "a = \"${1e99999999}\"",
		"a number that grows": strings.Replace(doubling(`%[1]s * %[1]s`), `"xxxxxxxxxx"`, "1000", 1),
		"padded":              `a = format("%999999999s", "x")`,
		"many of one":         strings.ReplaceAll(doubling(`"${local.b}%[1]s"`), "${local.b}", "${local.b}${local.b}x") + "\nb = \"" + strings.Repeat("x", 1<<20) + `"`,
	} {
		files := map[string]string{"a.pkr.hcl": sourced("vsphere-iso", "") + "\nlocals {\n" + locals + "\n}\n"}
		dir := writeFiles(t, files)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		found := check(t, dir, Options{})
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 1000 {
			t.Errorf("%s: %d MB", name, used)
		}
		told := 0
		for _, f := range found {
			if f.ID == "template.hcl" && f.Severity == finding.Unknown && strings.HasPrefix(f.Object, "local.") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%s: told %d times", name, told)
		}
	}
}

// Locals are evaluated behind those that they refer to, each once.
func TestLocals(t *testing.T) {
	var many strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&many, "x%d = local.x%d\n", i, i+1)
	}
	many.WriteString("x4000 = 5\n")
	dir := writeFiles(t, map[string]string{"a.pkr.hcl": sourced("vsphere-iso", "") + `
variable "v" { default = "w" }
locals {
  z = "${local.y}z"
  y = "${local["b"]}y"
  b = var.v
  of_each = [for k, v in { a = local.z, b = local.b } : "${k}=${v}"]
  named = local[var.v]
  self = "${local.self}x"
  ring = local.round
  round = local.ring
` + many.String() + "}\n"})
	f, err := load(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"z": "wyz", "y": "wy", "b": "w", "x0": "5", "of_each": "a=wyz b=w", "named": "?", "self": "?", "ring": "?", "round": "?"} {
		got := "?"
		if v := f.Context.Variables["local"].GetAttr(name); v.IsWhollyKnown() {
			if got = strings.Join(expression.Texts(v), " "); got == "" {
				got = v.AsBigFloat().String()
			}
		}
		if got != want {
			t.Errorf("local.%s is %s, want %s", name, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := load(ctx, dir, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
