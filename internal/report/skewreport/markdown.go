package skewreport

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/winbake/winbake/internal/base/autoescape"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
)

//go:embed report.md.tmpl
var markdownSource string

// markdown is GitHub's dialect, in which change requests and pull requests are read:
// https://github.github.com/gfm/
var markdown = func() *template.Template {
	all := template.Must(template.New("markdown").Funcs(template.FuncMap{
		"asText": asText, "escape": escape, "code": code, "fence": fence, "link": link, "oneLine": printable.OneLine, "capital": func(s raw) raw { return raw(capital(string(s))) }, "advice": advice, "parts": parts,
		"moment": moment, "why": why, "problem": problem, "cells": driverRow.cells, "head": func() []string { return tableHead },
		"join":  func(list []string) string { return strings.Join(list, ", ") },
		"lines": func(a finding.Action) string { return strings.Join(slices.Concat(a.Commands, a.Wait), "\n") },
	}).Parse(markdownSource))
	for _, t := range all.Templates() {
		autoescape.With(t, "asText")
	}
	return all
}()

func encodeMarkdown(d *Document, _ Options) (string, error) { return fill("report", d) }

func fill(name string, d *Document) (string, error) {
	var b strings.Builder
	if err := markdown.ExecuteTemplate(&b, name, newPage(d)); err != nil {
		return "", fmt.Errorf("encode Markdown: %w", err)
	}
	return strings.TrimRight(b.String(), "\n") + "\n", nil
}

type raw string

// asText is a value as text, and Markdown as it is.
func asText(value any) raw {
	if text, ok := value.(raw); ok {
		return text
	}
	return escape(fmt.Sprint(value))
}

// planTitle is the title of a plan.
func (d *Document) planTitle() string {
	return printable.OneLine("Plan for Windows CSI drivers" + d.route())
}

// route names the releases, for the end of a title.
func (d *Document) route() string {
	switch {
	case d.From == "" && d.To == "":
		return ""
	case d.From == "":
		return ": OpenShift to " + d.To
	case d.To == "":
		return ": OpenShift " + d.From
	case d.ControlPlaneOnly != "":
		return ": OpenShift " + d.From + " to " + d.To + ", Control Plane Only"
	}
	return ": OpenShift " + d.From + " to " + d.To
}

// special is what means something to Markdown inside a line; a URL would
// become a link to wherever a name in a cluster points.
var (
	special = strings.NewReplacer(`\`, `\\`, "`", "&#96;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`,
		"|", `\|`, "~", `\~`, "#", `\#`, "&", `\&`, "!", `\!`, "$", `\$`, "@", `\@`, "://", `\://`, "www.", `www\.`)
	// listStart would make a list, a heading or a rule of the start of a line.
	listStart = regexp.MustCompile(`^\s*(?:[-+=]|[0-9]+[.)](?:\s|$))`)
	backticks = regexp.MustCompile("`+")
)

// escape makes text stand in a line of Markdown as the characters that it is.
func escape(s string) raw {
	s = special.Replace(strings.ReplaceAll(s, " -> ", " → "))
	s = strings.TrimLeft(s, " ")
	if listStart.MatchString(s) {
		i := strings.IndexAny(s, "-+=.)")
		s = s[:i] + `\` + s[i:]
	}
	return raw(s)
}

// plainURL is a URL in which nothing could end a link early.
var plainURL = regexp.MustCompile(`^https://[-A-Za-z0-9._~/:?#=&%+@,;]+$`)

// link writes a URL as one, and anything else as text.
func link(s string) raw {
	if plainURL.MatchString(s) {
		return raw("<" + s + ">")
	}
	return escape(printable.OneLine(s))
}

// code writes s as a code span, in which nothing has a meaning but backticks.
func code(s string) raw {
	s = printable.OneLine(s)
	mark := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return raw(mark + s + mark)
}

// fence writes a code block whose fence is longer than any in it.
func fence(indent, text string) raw {
	mark := strings.Repeat("`", max(3, longestRun(text)+1))
	lines := append([]string{mark + "sh"}, strings.Split(text, "\n")...)
	return raw(indent + strings.Join(append(lines, mark), "\n"+indent))
}

func longestRun(s string) int {
	n := 0
	for _, run := range backticks.FindAllString(s, -1) {
		n = max(n, len(run))
	}
	return n
}
