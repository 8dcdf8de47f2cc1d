// Package secret tells which names and values in a template are of secrets. It
// looks at no template.
package secret

import (
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// secretName are names of variables, attributes and keys that hold a secret.
var secretName = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|(^|[_-])(pass|pwd|pw|creds?|credentials?|token|(secret|api|account|private|product)_key))$`)

// Some of these names are as usual for a file as for what is in it.
var (
	fileOrSecret = regexp.MustCompile(`(?i)(creds?|credentials?|private_key)$`)
	keyMaterial  = regexp.MustCompile(`PRIVATE KEY|^[A-Za-z0-9+/=\s]{200,}$`)
	pathForm     = regexp.MustCompile(`^(~|\.{0,2}|[A-Za-z]:)[\\/]\S*$`)
)

// namesFile reports whether a value of this name is a file's path.
func namesFile(name, value string) bool {
	if strings.HasSuffix(strings.ToLower(name), "private_key") {
		return !keyMaterial.MatchString(value)
	}
	return fileOrSecret.MatchString(name) && pathForm.MatchString(value)
}

var (
	// placeholder is text that something else puts a value into.
	placeholder = regexp.MustCompile(`^(\{\{[^{}]*\}\}|\$\{[^{}]*\})+$`)
	switchValue = regexp.MustCompile(`(?i)^(true|false|yes|no|none|0|1)$`)
	// tagName are names of maps that clouds show to everybody who sees the
	// machine: their keys are anybody's words.
	tagName = regexp.MustCompile(`(?i)(^|_)tags$|^labels$`)
)

// clientKeys are the product keys that Microsoft publishes for clients of a key
// management service, Standard and Datacenter of each Windows Server.
// https://learn.microsoft.com/windows-server/get-started/kms-client-activation-keys
var clientKeys = []string{
	"WC2BQ-8NRM3-FDDYY-2BFGV-KHKQY", "CB7KF-BWN84-R7R2Y-793K2-8XDDG", // 2016
	"N69G4-B89J2-4G8F4-WWYCC-J464C", "WMDGN-G9PQG-XVVXX-R3X43-63DFG", // 2019
	"VDYBN-27WPP-V4HQT-9VMD4-VMK7H", "WX4NM-KYWYW-QJJR4-XV3QB-6VM33", // 2022
	"TVRH6-WHNXV-R9WG3-9XRFY-MY832", "D764K-2NDRG-47T6Q-P8T8W-YP6DF", // 2025
}

// Reveals reports whether a value under a secret's name is a secret.
func Reveals(name, value string) bool {
	return value != "" && !namesFile(name, value) && !placeholder.MatchString(value) && !switchValue.MatchString(value) &&
		!slices.Contains(clientKeys, strings.ToUpper(value))
}

// IsName reports whether a variable, attribute or key of this name holds a
// secret.
func IsName(name string) bool { return secretName.MatchString(name) }

// IsTags reports whether a map of this name has tags.
func IsTags(name string) bool { return tagName.MatchString(name) }

// Holds reports whether a value of this name has a secret in it. The name of an
// object says nothing of what is in it, unless all of it is a secret. What is
// in tags is none.
func Holds(name string, v cty.Value, all bool) bool { return holds(name, v, IsName(name), all) }

func holds(name string, v cty.Value, isSecret, all bool) bool {
	switch {
	case v.IsNull() || !v.IsKnown(), IsTags(name) && !all:
		return false
	case v.Type().IsPrimitiveType():
		text, err := convert.Convert(v, cty.String)
		return err == nil && (isSecret || all) && Reveals(name, text.AsString())
	case !v.CanIterateElements():
		return false
	}
	for it := v.ElementIterator(); it.Next(); {
		key, e := it.Element()
		inner, innerSecret := name, isSecret
		if v.Type().IsObjectType() || v.Type().IsMapType() {
			inner, innerSecret = key.AsString(), IsName(key.AsString())
		}
		if holds(inner, e, innerSecret, all) {
			return true
		}
	}
	return false
}
