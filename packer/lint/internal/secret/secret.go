// Package secret tells which names and values in a template are of secrets. It
// looks at no template.
package secret

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/command"
)

// secretName are names of variables, attributes and keys that hold a secret.
var secretName = regexp.MustCompile(`(?i)(password|passwd|passphrase|secret|(^|[_-])(pass|pwd|pw|creds?|credentials?|token|(secret|secret_access|api|account|private|product)_key))$`)

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

// said is the password that Windows logs somebody on with by itself, or that a
// program is given behind a switch.
var said = regexp.MustCompile(`^(?:(?:reg|set-itemproperty|new-itemproperty) .*defaultpassword .*(?:-value|/d) |\.setpassword |(?:schtasks|netdom|cmdkey) .*/(?:rp |password[do]:|p[do]:|pass:)` +
	`|sc .*\bpassword= ?|register-scheduledtask .*-password |(?:curl|invoke-webrequest) .*-(?:u|-user) [^\s:]+:)(\S+)`)

// inURL is a password in front of a host's name.
var inURL = regexp.MustCompile(`\bhttps?://[^/\s:@$%{]+:([^/\s@$%{}]+)@`)

// autologon is Sysinternals' program: USER DOMAIN PASSWORD
// (https://learn.microsoft.com/sysinternals/downloads/autologon).
var autologon = regexp.MustCompile(`^autologon(64a?)?$`)

// Told is the password that a command is told, "" for none.
func Told(c winscript.Command) string {
	words := c.Words()
	switch net := command.Plain(c); {
	case len(net) > 2 && net[0] == "user":
		return net[2]
	case len(net) > 2 && net[0] == "use": // a device, what it stands for, and the password of that
		if i := slices.IndexFunc(net, func(w string) bool { return strings.HasPrefix(w, `\\`) }); i >= 0 && i+1 < len(net) {
			return net[i+1]
		}
	case c.Name == "convertto-securestring" && c.Flag("asplaintext"):
		return strings.Join(c.Param("string", 0).Texts, "")
	case (c.Name == "setx" || c.Name == ".setenvironmentvariable") && len(words) > 1 && IsName(words[0]):
		return words[1]
	case autologon.MatchString(c.Name):
		if w := slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(w, "/") || strings.HasPrefix(w, "-") }); len(w) > 2 {
			return w[2]
		}
	}
	for _, form := range []*regexp.Regexp{said, inURL} {
		if m := form.FindStringSubmatch(c.Text()); m != nil {
			return m[1]
		}
	}
	return ""
}

// Found is a key or token in a file.
type Found struct {
	Offset            int
	What, Why, Remedy string // Why and Remedy are empty for a public key
}

// publicKey is a line of authorized_keys; its comment says whose it is.
var publicKey = regexp.MustCompile(`(?m)(?:^|["'\s])(ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp\d+) (AAAA[A-Za-z0-9+/=]{20,})[ \t]*([^\s"'\\]*)`)

// token is how services' own tokens look. Amazon's documentation has keys that end
// with EXAMPLE.
var token = regexp.MustCompile(`\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}|xox[abp]-[\w-]{10,}|AKIA[0-9A-Z]{16})\b`)

// Material are the keys and tokens in a file, the first of each kind.
func Material(data []byte) []Found {
	var out []Found
	if m := publicKey.FindSubmatchIndex(data); m != nil {
		out = append(out, Found{Offset: m[2], What: "a public key of " + cmp.Or(string(data[m[6]:m[7]]), "somebody without a name")})
	}
	if m := token.FindIndex(data); m != nil && !bytes.HasSuffix(data[:m[1]], []byte("EXAMPLE")) {
		begins, _, _ := strings.Cut(string(data[m[0]:m[1]]), "_")
		out = append(out, Found{m[0], "a token, " + begins[:min(4, len(begins))] + "...", "anyone who has the template may do what the token may", "a sensitive variable, and a new token"})
	}
	if i := bytes.Index(data, []byte("PRIVATE KEY-----")); i >= 0 {
		out = append(out, Found{Offset: i, What: "a private key", Why: "anyone who has the template gets into all that trusts the key"})
	}
	return out
}
