// Package autoescape has whatever a text/template writes go through one function, as
// html/template does for HTML: for lines of a shell, and for Markdown.
package autoescape

import (
	"text/template"
	"text/template/parse"
)

// With adds function, which t has, to all that t itself writes. Its own text and the
// templates that it calls stay as they are.
func With(t *template.Template, function string) *template.Template {
	list(t.Root, function)
	return t
}

func list(l *parse.ListNode, function string) {
	if l == nil {
		return
	}
	for _, node := range l.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				call := &parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{parse.NewIdentifier(function).SetPos(n.Pos)}}
				n.Pipe.Cmds = append(n.Pipe.Cmds, call)
			}
		case *parse.IfNode:
			list(n.List, function)
			list(n.ElseList, function)
		case *parse.RangeNode:
			list(n.List, function)
			list(n.ElseList, function)
		case *parse.WithNode:
			list(n.List, function)
			list(n.ElseList, function)
		}
	}
}
