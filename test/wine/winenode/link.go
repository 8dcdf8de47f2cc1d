package winenode

import (
	"io"
	"net"
	"sync"
	"time"
)

// Link is a line's speed. Its zero value adds nothing.
type Link struct {
	BitsPerSecond int64         // of each direction; 0 as fast as the machine
	RoundTrip     time.Duration // of the first byte, there and back
}

// line puts the node's link and its faults between a client and the server.
func (n *Node) line(conn net.Conn) net.Conn {
	if n.options.Link != (Link{}) {
		conn = n.options.Link.through(conn)
	}
	if cut := n.faults.cutAfter(); cut > 0 {
		return &cutConn{Conn: conn, left: cut}
	}
	return conn
}

// through is the near end of a link whose far end is conn.
func (l Link) through(conn net.Conn) net.Conn {
	near, middle := net.Pipe()
	var both sync.WaitGroup
	both.Go(func() { l.carry(middle, conn) })
	both.Go(func() { l.carry(conn, middle) })
	go func() {
		both.Wait()
		_ = conn.Close()
		_ = middle.Close()
	}()
	return &linkConn{Conn: near, far: conn}
}

// linkConn has the far end's addresses, and closes it.
type linkConn struct {
	net.Conn
	far net.Conn
}

// RemoteAddr is net.Conn's.
func (c *linkConn) RemoteAddr() net.Addr { return c.far.RemoteAddr() }

// Close is net.Conn's.
func (c *linkConn) Close() error {
	_ = c.far.Close()
	return c.Conn.Close()
}

// packet is what is on the line, and when it arrives.
type packet struct {
	data []byte
	due  time.Time
}

const packetSize = 16 << 10

// carry moves one direction: a packet takes its time to be sent, and half a
// round trip to arrive. As much is on the way as fits into 64 packets, 1 MiB.
func (l Link) carry(to io.WriteCloser, from io.Reader) {
	onTheWay := make(chan packet, 64)
	go func() {
		defer close(onTheWay)
		var free time.Time // when the line has sent what it was given
		for {
			data := make([]byte, packetSize)
			n, err := from.Read(data)
			if n > 0 {
				free = later(free, time.Now()).Add(l.sending(n))
				onTheWay <- packet{data[:n], free.Add(l.RoundTrip / 2)}
			}
			if err != nil {
				return
			}
		}
	}()
	failed := false
	for p := range onTheWay {
		time.Sleep(time.Until(p.due))
		if !failed {
			_, err := to.Write(p.data)
			failed = err != nil
		}
	}
	_ = to.Close()
}

func (l Link) sending(bytes int) time.Duration {
	if l.BitsPerSecond == 0 {
		return 0
	}
	return time.Duration(int64(bytes) * 8 * int64(time.Second) / l.BitsPerSecond)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cutConn is a connection that ends after it has brought so many bytes.
type cutConn struct {
	net.Conn
	left int64
}

// Read is net.Conn's. SSH reads from one goroutine.
func (c *cutConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		_ = c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
