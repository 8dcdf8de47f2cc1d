package lint

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/winscript"
	"github.com/winbake/winbake/packer/lint/internal/gitclone"
)

// fetchers bring a file or text from a URL. .open is of XMLHTTP.
var fetchers = []string{"invoke-webrequest", "invoke-restmethod", "start-bitstransfer", "curl", "wget", "aria2c", "bitsadmin", "certutil", "msiexec", "get-webfile",
	".downloadfile", ".downloadstring", ".downloaddata", ".downloadfileasync", ".getstringasync", ".getbytearrayasync", ".getasync", ".openread", "ftp"}

// galleries bring the newest of something where no version is named.
var galleries = []string{"install-module", "install-script", "install-package", "save-module", "save-script", "choco", "cinst", "winget"}

// newest is a call of a package manager that installs something.
var newest = regexp.MustCompile(`^cinst |^\w+ (install|upgrade) `)

var remote = regexp.MustCompile(`(?i)\b(https?|ftp)://[^\s"'\x60)<>]+`)

// ours are services of the machine's own cloud, the machine itself, and Packer:
// what they say belongs to the build.
var ours = regexp.MustCompile(`(?i)^https?://(169\.254\.|168\.63\.129\.16|metadata\.|localhost|127\.|\$\{?(env:)?packer_http|%packer_http|\{\{ *\.HTTPIP)`)

// summing are commands that tell a file's sum, or who has signed it.
var summing = []string{"get-filehash", ".computehash", "get-authenticodesignature", "certutil", "test-filecatalog", "sha256sum", "fciv"}

// downloads: each is held to a sum by itself, before it is used.
func downloads(c *buildChecker) {
	const id = "template.download"
	found := map[string]bool{}
	for _, d := range c.commands(append(galleries, fetchers...)...) {
		f := finding.Finding{Evidence: d.at()}
		switch {
		case slices.Contains(galleries, d.Name):
			if d.Name == "install-package" && strings.Contains(d.Text(), "-source") && remote.FindString(d.Text()) == "" && strings.Contains(d.Text(), `:\`) || d.Flag("requiredversion") || strings.Contains(d.Text(), "-requiredversion") ||
				!strings.Contains(d.Name, "-") && (!newest.MatchString(d.Text()) || strings.Contains(d.Text(), "-version") || strings.Contains(d.Text(), ".config")) {
				continue
			}
			f.Observed, f.Expected, f.Remedy = d.Name+", the newest there is", "a version or a sum", "Install-Module -RequiredVersion, or bring the module along"
		default:
			url := c.foreign(d)
			if url == "" || c.isHeld(d) {
				continue
			}
			f.Observed, f.Expected = url, "a sum that it's compared with before it is used"
		}
		if key := d.in.Name + f.Observed; !found[key] {
			found[key] = true
			c.add(id, d.in.Name, f)
		}
	}
	for _, r := range c.ran {
		clones := gitclone.Unpinned(r.does.Commands)
		for _, url := range sortedKeys(clones) {
			if key := r.Name + url; !ours.MatchString(url) && !found[key] {
				found[key] = true
				c.add(id, r.Name, finding.Finding{Observed: "git clone of " + url + " without a commit", Expected: "a commit that is checked out",
					Remedy: "git -C FOLDER checkout --detach COMMIT, with all 40 digits: branches and tags can be moved", Evidence: at(r.Name, clones[url].Line)})
			}
		}
	}
	if len(found) == 0 {
		c.pass(id, "downloads", "none without a sum or a version")
	}
}

// foreign is the URL that a command fetches, "" for one of the build's own, or
// none: certutil does other things too.
func (c *buildChecker) foreign(d done) string {
	for _, w := range append(d.Words(), d.Object) {
		if url := remote.FindString(w); url != "" {
			if ours.MatchString(url) {
				return ""
			}
			return url
		}
	}
	switch {
	case d.Name == "certutil", d.Name == "msiexec", d.Name == "ftp", strings.HasPrefix(d.Name, ".") && !strings.Contains(d.in.words(), "webclient") && !strings.Contains(d.in.words(), "httpclient"):
		return ""
	case d.Known() && len(d.Args) > 0 && !d.Input.Open:
		return ""
	}
	uri := slices.Concat(d.Param("uri", 0).Texts, d.Param("source", 0).Texts)
	if len(uri) == 0 {
		return ""
	}
	if strings.Contains(strings.ToLower(uri[0]), "packer_http") || strings.Contains(strings.ToLower(uri[0]), "metadata") {
		return ""
	}
	return uri[0]
}

// target is the file that a download becomes, "" for none.
func target(d done) string {
	var v []string
	switch d.Name {
	case "invoke-webrequest", "invoke-restmethod":
		v = d.Param("outfile", -1).Texts
	case "start-bitstransfer":
		v = d.Param("destination", 1).Texts
	case "curl", "wget":
		words := d.Words()
		for i, w := range words {
			if (w == "-o" || w == "-O" || w == "--output" || w == "-output") && i+1 < len(words) {
				v = []string{words[i+1]}
			}
		}
	case ".downloadfile", ".downloadfileasync":
		if len(d.Args) > 1 {
			v = d.Args[1].Value.Texts
		}
	case "certutil", "bitsadmin":
		if words := d.Words(); len(words) > 0 {
			v = words[len(words)-1:]
		}
	}
	if len(v) == 0 {
		return ""
	}
	return plainPath(v[0])
}

func plainPath(p string) string {
	return strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(strings.Trim(p, `"'`)), "/", `\`), `.\`)
}

// isHeld reports whether a download's sum is compared with something before
// anything else is done with the file.
func (c *buildChecker) isHeld(d done) bool {
	file := target(d)
	if file == "" {
		return d.Into != "" && c.sums(d.in, d.Order, func(s done) bool { return strings.Contains(s.Text(), "$"+d.Into) || s.Into == d.Into })
	}
	for i := range d.in.does.Commands {
		next := done{d.in.does.Commands[i], d.in}
		if next.Order <= d.Order || !names(next, file) || next.Name == "test-path" || slices.Contains(fetchers[:6], next.Name) {
			continue
		}
		if slices.Contains(summing, next.Name) {
			return c.compared(next)
		}
		if strings.HasPrefix(next.Name, ".") && strings.Contains(next.Name, "read") || next.Name == "get-item" || strings.HasPrefix(next.Name, "write-") || strings.HasPrefix(next.Name, "join-") || strings.HasPrefix(next.Name, "out-") {
			continue
		}
		return false // it is used
	}
	return false
}

// names reports whether a command is about a file.
func names(d done, file string) bool {
	base := file[strings.LastIndexByte(file, '\\')+1:]
	if d.Name == strings.TrimSuffix(base, ".exe") {
		return true
	}
	return slices.ContainsFunc(append(d.Words(), append(d.Input.Texts, d.Object)...), func(w string) bool {
		w = plainPath(w)
		return w == file || base != "" && strings.HasSuffix(w, base) || strings.Contains(w, file)
	})
}

// compared: cmd has no way to tell, but findstr behind it.
func (c *buildChecker) compared(d done) bool {
	if d.Name == "get-authenticodesignature" || d.in.Language == Cmd || d.Name == "certutil" {
		return true
	}
	return d.Compared
}

func (c *buildChecker) sums(in *ran, after int, is func(done) bool) bool {
	return slices.ContainsFunc(in.does.Commands, func(command winscript.Command) bool {
		d := done{command, in}
		return d.Order > after && slices.Contains(summing, d.Name) && d.Compared && is(d)
	})
}
