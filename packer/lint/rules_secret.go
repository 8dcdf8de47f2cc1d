package lint

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/winbake/winbake/internal/finding"
)

// secretName are names of variables and attributes that hold a secret.
var secretName = regexp.MustCompile(`(?i)(^|[_-])(password|passwd|secret|token|secret_key|private_key|product_key)$`)

func secrets(c *checker) {
	const id = "template.secret"
	for _, name := range sortedKeys(c.variables) {
		v := c.variables[name]
		sensitive, _ := c.text(v.Body, "sensitive")
		if sensitive != "true" && !secretName.MatchString(name) {
			continue
		}
		value, st := c.text(v.Body, "default")
		switch {
		case st == known && value != "":
			c.add(id, "var."+name, finding.Finding{Observed: "a default", Expected: "none", Evidence: at(v.file, lineOf(v.Body, "default", v.line()))})
		case sensitive != "true":
			c.add(id, "var."+name, finding.Finding{Severity: finding.Warn, Observed: "not sensitive", Expected: "sensitive = true", Evidence: at(v.file, v.line()), Why: "Packer prints it into logs"})
		default:
			c.pass(id, "var."+name, "sensitive, without a default")
		}
	}
	blocks := append([]*block{}, c.sources...)
	for _, b := range append(blocks, c.provisioners()...) {
		c.literals(b)
	}
}

// literals finds secrets that stand in a source or a step as they are.
func (c *checker) literals(b *block) {
	for name, a := range b.Body.Attributes {
		if !secretName.MatchString(name) || len(a.Expr.Variables()) > 0 {
			continue
		}
		if v, st := c.text(b.Body, name); st == known && v != "" {
			c.add("template.secret", b.name()+"."+name, finding.Finding{Observed: "written into the template", Expected: "a variable", Evidence: at(b.file, a.SrcRange.Start.Line)})
		}
	}
}

// publicKey is a line of authorized_keys; its comment says whose it is.
var publicKey = regexp.MustCompile(`(?m)(?:^|["'\s])(ssh-rsa|ssh-ed25519|ecdsa-sha2-nistp\d+) (AAAA[A-Za-z0-9+/=]{20,})[ \t]*([^\s"']*)`)

func keys(c *checker) {
	const id = "template.key"
	found := false
	for _, name := range c.sorted() {
		data := c.files[name]
		if m := publicKey.FindSubmatchIndex(data); m != nil {
			found = true
			whose := or(string(data[m[6]:m[7]]), "somebody without a name")
			c.add(id, name, finding.Finding{Observed: "a public key of " + whose, Expected: "no key in the template", Evidence: at(name, lineAt(data, m[2]))})
		}
		if i := bytes.Index(data, []byte("PRIVATE KEY-----")); i >= 0 {
			found = true
			c.add(id, name, finding.Finding{Observed: "a private key", Expected: "no key in the template", Evidence: at(name, lineAt(data, i)),
				Why: "whoever has the template gets into whatever trusts the key"})
		}
	}
	if !found {
		c.pass(id, "keys", "none in the template")
	}
}

func lineAt(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }

// payloads: node files come from an image by digest.
func payloads(c *checker) {
	const id = "template.payload"
	blocks := append([]*block{}, c.data...)
	used := false
	for _, b := range append(blocks, c.provisioners()...) {
		if b.Labels[0] != "winbake-payload" && b.Labels[0] != "winbake-node" {
			continue
		}
		used = true
		digest, st := c.text(b.Body, "digest")
		ref, _ := c.text(b.Body, "payload")
		evidence := at(b.file, lineOf(b.Body, "digest", b.line()))
		switch {
		case st == known && digestForm.MatchString(digest), st == absent && strings.Contains(ref, "@sha256:"):
			c.pass(id, b.name(), or(digest, ref))
		case st == unknown && c.demanded(b.Body, "digest"):
			c.pass(id, b.name(), "the digest is given at build time, in a form that the template checks")
		case st == unknown:
			c.untold(id, b.name(), "the digest is given at build time, and nothing demands one")
		default:
			c.add(id, b.name(), finding.Finding{Observed: or(ref, "a payload") + " without a digest", Expected: "sha256:...", Evidence: evidence})
		}
	}
	if !used {
		c.add(id, "payload", finding.Finding{Severity: finding.Info, Observed: "no node files come out of a payload", Expected: "",
			Why: "each file is copied to each node when it joins", Remedy: "bake template --payload REF@sha256:..."})
	}
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// traversed is NAME of var.NAME.
func traversed(t hcl.Traversal) string {
	if a, ok := t[1].(hcl.TraverseAttr); ok {
		return a.Name
	}
	return ""
}
