package answer

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// TestRendered fills the files in as Packer's templatefile does, and reads what
// Windows Setup would: one layout for the firmware, a key where there is one,
// and nothing of the template left.
func TestRendered(t *testing.T) {
	for _, efi := range []bool{true, false} {
		for _, key := range []string{"", "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE"} {
			t.Run(fmt.Sprintf("efi=%t key=%q", efi, key), func(t *testing.T) {
				text := rendered(t, build(t), efi, key)
				for part, want := range map[string]int{
					"<DiskConfiguration>": 1, "<Type>EFI</Type>": count(efi), "<Active>true</Active>": count(!efi),
					"<PartitionID>3</PartitionID>\n": 2 * count(efi), // made, and installed to
					"<UserLocale>en-GB</UserLocale>": 2, "<UILanguage>en-US</UILanguage>": 3,
					"<Key>" + key + "</Key>": count(key != ""), "<Value>" + encoded("p", PasswordSuffix) + "</Value>": 1,
				} {
					if part == "<Key></Key>" {
						part, want = "<ProductKey>", 0
					}
					if n := strings.Count(text, part); n != want {
						t.Errorf("%q is there %d times, want %d, in\n%s", part, n, want, text)
					}
				}
				read(t, text)
			})
		}
	}
	read(t, rendered(t, generalized(t), true, ""))
}

func rendered(t *testing.T, template string, efi bool, key string) string {
	t.Helper()
	expression, diags := hclsyntax.ParseTemplate([]byte(template), "file", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	value, diags := expression.Value(&hcl.EvalContext{Variables: map[string]cty.Value{
		VarEFI: cty.BoolVal(efi), VarHasKey: cty.BoolVal(key != ""), VarProductKey: cty.StringVal(key),
		VarImageKey: cty.StringVal("NAME"), VarImageValue: cty.StringVal("Core"), VarLanguage: cty.StringVal("en-US"), VarLocale: cty.StringVal("en-GB"), VarTimeZone: cty.StringVal("UTC"),
		VarPassword: cty.StringVal(encoded("p", PasswordSuffix)), VarAutoLogon: cty.StringVal(encoded("p", AutoLogonSuffix)), VarHostPrefix: cty.StringVal("winnode-"),
	}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return value.AsString()
}

// read parses the file and looks for what the template language left.
func read(t *testing.T, text string) {
	t.Helper()
	var root struct {
		Settings []struct {
			Pass string `xml:"pass,attr"`
		} `xml:"settings"`
	}
	if err := xml.Unmarshal([]byte(text), &root); err != nil || len(root.Settings) != 3 {
		t.Errorf("%d passes, %v, in\n%s", len(root.Settings), err, text)
	}
	for _, left := range []string{"${", "%{"} {
		if strings.Contains(text, left) {
			t.Errorf("%q is left in\n%s", left, text)
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
