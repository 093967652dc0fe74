package textio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// Buffer is the size in bytes of the buffer of the readers that Open returns: so
// much of a text can be peeked at.
const Buffer = 1 << 16

// sniffed is how many bytes of a beginning tell what a file is.
const sniffed = 4096

// deepest is how often a text may be packed.
const deepest = 2

// Open returns the text behind r. What is packed with gzip, or is the one file of
// a zip archive, is unpacked; UTF-16, with or without a byte order mark, becomes
// UTF-8; a byte order mark is cut off; lines that end in CR alone end in LF. r is
// read once and from its start, so it may be a pipe.
//
// A file that is no text is an error that says what it is, in one line without
// the name of the file. Errors of reading are for the caller's first read.
func Open(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, Buffer)
	for packed := 0; ; packed++ {
		unpacked, err := unpack(text)
		if err != nil {
			return nil, err
		}
		if unpacked == nil {
			break
		}
		if packed == deepest {
			return nil, fmt.Errorf("packed more than %d times: want text, plain or packed once", deepest)
		}
		text = bufio.NewReaderSize(unpacked, Buffer)
	}
	head, _ := text.Peek(sniffed)
	if decoded := decode(text, head); decoded != nil {
		text = bufio.NewReaderSize(decoded, Buffer)
		head, _ = text.Peek(sniffed)
	}
	if err := refuse(head); err != nil {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		text.Discard(3)
	}
	if endsInCR(head) {
		text = bufio.NewReaderSize(&lineEnds{text}, Buffer)
	}
	return text, nil
}

// unpack is the content of an archive, nil if text is none.
func unpack(text *bufio.Reader) (io.Reader, error) {
	head, _ := text.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gunzip(text)
	case string(head) == localHeader:
		return openZip(text)
	case string(head) == "PK\x05\x06":
		return nil, fmt.Errorf("an empty zip archive: want one with one file of text")
	}
	return nil, nil
}
