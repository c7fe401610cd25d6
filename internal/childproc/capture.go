package childproc

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
)

// Bounds of a Capture.
const (
	memoryBound = 1 << 20
	// CaptureLimit is how many bytes a Capture keeps.
	CaptureLimit = 64 << 20
	tailBound    = 1 << 20
)

// Capture keeps the output of a program: in memory while it is small, in a file without a name beyond that. Of more than
// 64 MiB it keeps the start and the last MiB. The zero value is ready; Close it when done. Write never fails, so that a
// program is not ended by a full disk.
type Capture struct {
	mu      sync.Mutex
	head    bytes.Buffer
	file    *os.File // the whole of the start, once it outgrew memory
	written int64    // bytes of the start that were kept
	tail    []byte   // a ring with the last bytes, once the start is full
	next    int      // where the ring goes on
	dropped int64    // bytes between start and tail that are lost
	noFile  bool     // there was no place for a file
}

// Write keeps p.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	p = p[c.keep(p):]
	for _, b := range p {
		c.ring(b)
	}
	return n, nil
}

// keep adds as much of p to the start as fits, and returns how much that was.
func (c *Capture) keep(p []byte) int {
	room := int64(CaptureLimit - tailBound)
	if c.noFile {
		room = memoryBound
	}
	if c.tail != nil {
		return 0 // what comes after a gap belongs to the tail
	}
	p = p[:min(int64(len(p)), max(0, room-c.written))]
	if c.file == nil && c.written+int64(len(p)) > memoryBound && !c.noFile {
		c.spill()
	}
	if c.file != nil {
		n, err := c.file.Write(p)
		c.written += int64(n)
		if err != nil {
			c.tail = make([]byte, 0, tailBound)
		}
		return n
	}
	p = p[:min(int64(len(p)), memoryBound-c.written)]
	c.head.Write(p)
	c.written += int64(len(p))
	return len(p)
}

// spill moves the start into a file that is gone as soon as it is closed.
func (c *Capture) spill() {
	f, err := os.CreateTemp("", "crystal-output-*")
	if err != nil {
		c.noFile = true
		return
	}
	_ = os.Remove(f.Name()) // where an open file can't be removed, Close does it
	if _, err := f.Write(c.head.Bytes()); err != nil {
		c.noFile = true
		_ = f.Close()
		_ = os.Remove(f.Name())
		return
	}
	c.file = f
	c.head = bytes.Buffer{}
}

func (c *Capture) ring(b byte) {
	if c.tail == nil {
		c.tail = make([]byte, 0, tailBound)
	}
	if len(c.tail) < tailBound {
		c.tail = append(c.tail, b)
		return
	}
	c.tail[c.next] = b
	c.next = (c.next + 1) % tailBound
	c.dropped++
}

// Output returns what was kept, and how many bytes were dropped between its start and its last MiB; at is where they were.
func (c *Capture) Output() (text []byte, at int, dropped int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := c.head.Bytes()
	if c.file != nil {
		start = make([]byte, c.written, c.written+int64(len(c.tail)))
		if _, err := c.file.ReadAt(start, 0); err != nil && err != io.EOF {
			return nil, 0, 0, err
		}
	}
	text = append(start[:len(start):len(start)], c.tail[c.next:]...)
	text = append(text, c.tail[:c.next]...)
	return text, len(start), c.dropped, nil
}

// Text returns what was kept as one text, which says where bytes are missing.
func (c *Capture) Text() (string, error) {
	data, at, dropped, err := c.Output()
	if err != nil {
		return "", err
	}
	if dropped > 0 {
		return fmt.Sprintf("%s\n[… %d bytes were dropped]\n%s", data[:at], dropped, data[at:]), nil
	}
	return string(data), nil
}

// Close drops what was kept.
func (c *Capture) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head = bytes.Buffer{}
	c.tail, c.next = nil, 0
	if c.file == nil {
		return nil
	}
	f := c.file
	c.file = nil
	err := f.Close()
	_ = os.Remove(f.Name())
	return err
}
