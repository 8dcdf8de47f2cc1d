// Package verifyexe is verify.exe, the one program of ours on a Windows node: it
// installs a payload there, checks the node, and removes the payload again. It
// has no Kubernetes client and no compiler in it, and asks no other machine for
// anything.
package verifyexe

import (
	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
)

// New returns the command.
func New(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:     "verify.exe", // cmd.exe has a verify of its own
		Short:   "Install and check a payload on a Windows node",
		Long:    `This verify runs on a Windows node and works on that node alone.`,
		Example: "  verify.exe node install D:\\payload\n  verify.exe node check\n  verify.exe node remove",
	}
	node := &cobra.Command{Use: "node", Short: "Install, check or remove a payload on this node"}
	node.AddCommand(newInstall(a), newCheck(a), newRemove(a))
	root.AddCommand(node)
	return root
}
