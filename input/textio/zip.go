package textio

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Signatures of the parts of a zip archive.
const (
	localHeader = "PK\x03\x04"
	descriptor  = "PK\x07\x08"
)

// zipFile is the one file of a zip archive. It is read from the front, without
// the directory at the archive's end, so that an archive may come from a pipe.
// Folders, and what macOS adds to archives, do not count.
type zipFile struct {
	r        *bufio.Reader
	name     string
	content  io.Reader
	sum      uint32 // of what was read
	want     uint32 // as the header has it
	trailing bool   // the sum stands behind the content
	err      error
}

// openZip reads up to the content of the first file.
func openZip(r *bufio.Reader) (io.Reader, error) {
	z := &zipFile{r: r}
	if err := z.first(); err != nil {
		return nil, err
	}
	switch {
	case z.name == "[Content_Types].xml", strings.HasPrefix(z.name, "_rels/"), strings.HasPrefix(z.name, "xl/"), z.name == "mimetype":
		return nil, fmt.Errorf("a spreadsheet or document of an office program: %s", exportFirst)
	case strings.HasSuffix(z.name, ".npy"):
		return nil, fmt.Errorf("an archive of NumPy arrays: %s", exportFirst)
	case strings.HasSuffix(z.name, "data.pkl"):
		return nil, fmt.Errorf("a file of PyTorch: %s", exportFirst)
	}
	return z, nil
}

// first finds the first file that counts.
func (z *zipFile) first() error {
	for {
		more, err := z.header()
		if err != nil {
			return err
		}
		if !more {
			return fmt.Errorf("a zip archive without a file: want one with one file of text")
		}
		if z.counts() {
			return nil
		}
		if err := z.pass(); err != nil {
			return err
		}
	}
}

// counts reports whether the current member is a file of the user's.
func (z *zipFile) counts() bool {
	return !strings.HasSuffix(z.name, "/") && !strings.HasPrefix(z.name, "__MACOSX/") && !strings.HasSuffix(z.name, ".DS_Store")
}

// pass reads over a member that does not count.
func (z *zipFile) pass() error {
	const most = 1 << 20
	n, err := io.Copy(io.Discard, io.LimitReader(z.content, most))
	if err == nil && n == most {
		err = fmt.Errorf("a zip archive with a large %q before the file: want one with one file of text", z.name)
	}
	if err != nil {
		return err
	}
	return z.end(false)
}

// header reads the header of the next member; false when there is none.
func (z *zipFile) header() (bool, error) {
	mark, _ := z.r.Peek(4)
	if string(mark) != localHeader {
		return false, nil // the directory, or the end
	}
	var fixed [30]byte
	if _, err := io.ReadFull(z.r, fixed[:]); err != nil {
		return false, cutZip(err)
	}
	field := func(at int) uint16 { return binary.LittleEndian.Uint16(fixed[at:]) }
	flags, method := field(6), field(8)
	packed := binary.LittleEndian.Uint32(fixed[18:])
	text := make([]byte, int(field(26))+int(field(28)))
	if _, err := io.ReadFull(z.r, text); err != nil {
		return false, cutZip(err)
	}
	z.name, z.want, z.sum = string(text[:field(26)]), binary.LittleEndian.Uint32(fixed[14:]), 0
	z.trailing = flags&8 != 0
	switch {
	case flags&1 != 0:
		return false, fmt.Errorf("a zip archive with a password: want text, plain or packed with gzip")
	case method == 8:
		z.content = flate.NewReader(z.r)
	case method == 0 && !z.trailing && packed < 1<<32-1:
		z.content = io.LimitReader(z.r, int64(packed))
	default:
		return false, fmt.Errorf("a zip archive packed by method %d: %s", method, unpackFirst)
	}
	return true, nil
}

// Read implements io.Reader. The archive is checked at the end of the file.
func (z *zipFile) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.content.Read(p)
	z.sum = crc32.Update(z.sum, crc32.IEEETable, p[:n])
	if err == io.EOF {
		if err = z.end(true); err == nil {
			err = z.others()
		}
	}
	z.err = err
	return n, err
}

// end reads what stands behind the content of a member.
func (z *zipFile) end(check bool) error {
	if z.trailing {
		if err := z.descriptor(); err != nil {
			return err
		}
	}
	if check && z.sum != z.want {
		return fmt.Errorf("the zip archive is damaged: the checksum of %q is %08x, not %08x", z.name, z.sum, z.want)
	}
	return nil
}

// descriptor reads the sum and sizes behind a content that was packed as a
// stream: with or without a signature, sizes of 4 or 8 bytes.
func (z *zipFile) descriptor() error {
	head, _ := z.r.Peek(26)
	at := 0
	if len(head) >= 4 && string(head[:4]) == descriptor {
		at = 4
	}
	for _, length := range []int{at + 12, at + 20} {
		if len(head) >= length+2 && string(head[length:length+2]) == "PK" {
			z.want = binary.LittleEndian.Uint32(head[at:])
			z.r.Discard(length)
			return nil
		}
	}
	return cutZip(io.ErrUnexpectedEOF)
}

// others is io.EOF unless another file follows.
func (z *zipFile) others() error {
	one := z.name
	for {
		more, err := z.header()
		switch {
		case err != nil:
			return err
		case !more:
			return io.EOF
		case z.counts():
			return fmt.Errorf("a zip archive with %q and %q: want one file of text: unpack it first", one, z.name)
		}
		if err := z.pass(); err != nil {
			return err
		}
	}
}

// cutZip is the error of an archive that ends within a member.
func cutZip(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the zip archive ends too early: want the whole file")
	}
	return err
}
