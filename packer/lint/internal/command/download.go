package command

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winscript"
)

// fetchers bring a file or text from a URL. .open is of XMLHTTP.
var fetchers = []string{"invoke-webrequest", "invoke-restmethod", "start-bitstransfer", "curl", "wget", "aria2c", "bitsadmin", "certutil", "msiexec", "get-webfile",
	"aws", "gsutil", "gcloud", "azcopy", "start-process", "copy-item", "copy", "xcopy", "robocopy", ".downloadfile", ".downloadstring", ".downloaddata", ".downloadfileasync", ".getstringasync", ".getbytearrayasync", ".getasync", ".openread", "ftp"}

// remote is a URL, or a path on another machine.
var remote = regexp.MustCompile(`(?i)\b(https?|ftp|s3|gs)://[^\s"'\x60)<>]+|^\\\\[a-z][\w.-]+\\[\w$.-]+\\[^"*]+$`)

// ours are services of the machine's own cloud, the machine itself, and Packer:
// what they say belongs to the build.
var ours = regexp.MustCompile(`(?i)^https?://(169\.254\.|168\.63\.129\.16|metadata\.|localhost|127\.|\$\{?(env:)?packer_http|%packer_http|\{\{ *\.HTTPIP)`)

// Summing are commands that tell a file's sum, or who has signed it.
var Summing = []string{"get-filehash", ".computehash", "get-authenticodesignature", "certutil", "test-filecatalog", "sha256sum", "fciv"}

// Again reports whether a command only fetches, as another try does.
func Again(c winscript.Command) bool { return slices.Contains(fetchers[:6], c.Name) }

// IsOwn reports whether a URL is one of the build's own.
func IsOwn(url string) bool { return ours.MatchString(url) }

// URL is what a command fetches, "" for one of the build's own, or
// none: certutil does other things too. script are all words of its script.
func URL(c winscript.Command, script func() string) string {
	if !slices.Contains(fetchers, c.Name) {
		return ""
	}
	words := append(c.Words(), c.Object)
	if c.Name == "start-process" { // what else it says is the program's
		words = c.Param("filepath", 0).Texts
	}
	for i, w := range words {
		if url := remote.FindString(w); url != "" {
			if ours.MatchString(url) || copies.MatchString(c.Text()) && i > 0 && i == len(words)-2 { // it is brought there
				return ""
			}
			return url
		}
	}
	if others.MatchString(c.Name) || c.Known() && len(c.Args) > 0 && !c.Input.Open ||
		strings.HasPrefix(c.Name, ".") && !strings.Contains(script(), "webclient") && !strings.Contains(script(), "httpclient") {
		return ""
	}
	uri := slices.Concat(c.Param("uri", 0).Texts, c.Param("source", 0).Texts)
	if len(uri) == 0 || strings.Contains(strings.ToLower(uri[0]), "packer_http") || strings.Contains(strings.ToLower(uri[0]), "metadata") {
		return ""
	}
	return uri[0]
}

// others are commands that fetch with a URL alone, copies those that name what they
// fetch before where it goes.
var (
	others = regexp.MustCompile(`^(?:aws|gsutil|gcloud|azcopy|start-process|copy-item|copy|xcopy|robocopy|certutil|msiexec|ftp)$`)
	copies = regexp.MustCompile(`^(?:aws s3|gsutil|gcloud|azcopy|copy-item|copy|xcopy|robocopy)\b`)
)

// Target is the file that a download becomes, "" for none.
func Target(c winscript.Command) string {
	var v []string
	switch c.Name {
	case "invoke-webrequest", "invoke-restmethod":
		v = c.Param("outfile", -1).Texts
	case "start-bitstransfer":
		v = c.Param("destination", 1).Texts
	case "curl", "wget":
		words := c.Words()
		for i, w := range words {
			if (w == "-o" || w == "-O" || w == "--output" || w == "-output") && i+1 < len(words) {
				v = []string{words[i+1]}
			}
		}
	case ".downloadfile", ".downloadfileasync":
		if len(c.Args) > 1 {
			v = c.Args[1].Value.Texts
		}
	case "certutil", "bitsadmin", "aws", "gsutil", "gcloud", "azcopy", "copy-item", "copy", "xcopy":
		if words := c.Words(); len(words) > 0 {
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

// Names reports whether a command is about a file.
func Names(c winscript.Command, file string) bool {
	base := file[strings.LastIndexByte(file, '\\')+1:]
	if c.Name == strings.TrimSuffix(base, ".exe") {
		return true
	}
	return slices.ContainsFunc(append(c.Words(), append(c.Input.Texts, c.Object)...), func(w string) bool {
		w = plainPath(w)
		return w == file || base != "" && strings.HasSuffix(w, base) || strings.Contains(w, file)
	})
}
