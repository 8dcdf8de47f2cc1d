package winenode

import "context"

// Run makes a node for a program that isn't a test, and returns what ends it,
// which is to be called also after an error. The node's life isn't ctx's.
func Run(ctx context.Context, o Options) (n *Node, stop func() error, err error) {
	n, stop, err = start(ctx, o)
	if stop == nil {
		stop = func() error { return nil }
	}
	return n, stop, err
}

// Replace puts a file of the host in a place on the node, as Put does.
func (n *Node) Replace(file, windows string) error {
	path, err := n.Path(windows)
	if err != nil {
		return err
	}
	return putFile(file, path)
}
