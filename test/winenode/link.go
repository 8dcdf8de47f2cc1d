package winenode

import (
	"io"
	"net"
	"time"
)

// Link is a line's speed. Its zero value adds nothing.
type Link struct {
	BitsPerSecond int64         // of each direction
	RoundTrip     time.Duration // of the first byte
}

// line puts the node's link and its faults between a client and the server.
func (n *Node) line(conn net.Conn) net.Conn {
	if cut := n.faults.cutAfter(); cut > 0 {
		return &cutConn{Conn: conn, left: cut}
	}
	return conn
}

// cutConn is a connection that ends after it has brought so many bytes.
type cutConn struct {
	net.Conn
	left int64
}

// Read is net.Conn's. SSH reads from one goroutine.
func (c *cutConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		_ = c.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
