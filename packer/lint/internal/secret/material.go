package secret

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

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
		out = append(out, Found{m[0], "a token, " + begins[:min(4, len(begins))] + "...", "whoever has the template may do what the token may", "a sensitive variable, and a new token"})
	}
	if i := bytes.Index(data, []byte("PRIVATE KEY-----")); i >= 0 {
		out = append(out, Found{Offset: i, What: "a private key", Why: "whoever has the template gets into whatever trusts the key"})
	}
	return out
}
