package textio

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

const sample = "TIMESTAMP,ContextTokens\n2023-11-16 18:15:46,374 ä € 𝄞\n"

func read(t *testing.T, data []byte) (string, error) {
	t.Helper()
	text, err := Open(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	all, err := io.ReadAll(text)
	return string(all), err
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func utf16Of(text string, order binary.AppendByteOrder, mark bool) []byte {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

type member struct{ name, text string }

func zipped(t *testing.T, method uint16, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		w, err := z.CreateHeader(&zip.FileHeader{Name: m.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, m.text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stored is an archive with one file that is not packed and whose header has
// its size, as the tool zip -0 writes it.
func stored(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: name, Method: zip.Store, CRC32: crc(text), CompressedSize64: uint64(len(text)), UncompressedSize64: uint64(len(text))}
	w, err := z.CreateRaw(h)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every way in which tools write a text gives the same text, also byte by byte
// as a slow pipe gives it.
func TestTextIsUnpackedAndDecoded(t *testing.T) {
	long := strings.Repeat(sample, 5000)
	for _, text := range []string{sample, long} {
		for name, data := range map[string][]byte{
			"plain":                  []byte(text),
			"mark":                   append([]byte("\xef\xbb\xbf"), text...),
			"gzip":                   gzipped([]byte(text)),
			"gzip with mark":         gzipped(append([]byte("\xef\xbb\xbf"), text...)),
			"gzip twice":             gzipped(gzipped([]byte(text))),
			"UTF-16 little":          utf16Of(text, binary.LittleEndian, true),
			"UTF-16 big":             utf16Of(text, binary.BigEndian, true),
			"UTF-16 little, no mark": utf16Of(text, binary.LittleEndian, false),
			"UTF-16 big, no mark":    utf16Of(text, binary.BigEndian, false),
			"gzip of UTF-16":         gzipped(utf16Of(text, binary.LittleEndian, true)),
			"CR":                     []byte(strings.ReplaceAll(text, "\n", "\r")),
			"zip":                    zipped(t, zip.Deflate, member{"a.csv", text}),
			"zip with a folder":      zipped(t, zip.Deflate, member{"d/", ""}, member{"d/a.csv", text}),
			"zip of macOS":           zipped(t, zip.Deflate, member{"a.csv", text}, member{"__MACOSX/._a.csv", "x\x00y"}),
			"zip, stored":            stored(t, "a.csv", text),
			"zip of gzip":            zipped(t, zip.Deflate, member{"a.csv.gz", string(gzipped([]byte(text)))}),
		} {
			if got, err := read(t, data); err != nil || got != text {
				t.Errorf("%s: %d bytes, want %d: %v", name, len(got), len(text), err)
			}
			slow, err := Open(iotest.OneByteReader(bytes.NewReader(data)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if all, err := io.ReadAll(slow); err != nil || string(all) != text {
				t.Errorf("%s, byte by byte: %d bytes, want %d: %v", name, len(all), len(text), err)
			}
		}
	}
	if got, err := read(t, []byte("a\r\nb\r\n")); got != "a\r\nb\r\n" || err != nil {
		t.Errorf("lines that end in CR LF: %q, %v", got, err)
	}
	if got, err := read(t, nil); got != "" || err != nil {
		t.Errorf("an empty file: %q, %v", got, err)
	}
}

// A file that is no text is named.
func TestWhatIsNoTextIsNamed(t *testing.T) {
	damaged := zipped(t, zip.Deflate, member{"a.csv", sample})
	at := bytes.LastIndex(damaged, []byte(descriptor))
	damaged[at+4] ^= 1
	whole := zipped(t, zip.Deflate, member{"a.csv", strings.Repeat(sample, 100)})
	locked := zipped(t, zip.Deflate, member{"a.csv", sample})
	locked[6] |= 1
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"zstd", []byte("\x28\xb5\x2f\xfd\x04\x00"), "data packed with zstd: want text, plain or packed with gzip: unpack it first (zstd -d)"},
		{"bzip2", []byte("BZh91AY"), "data packed with bzip2: want text, plain or packed with gzip: unpack it first (bunzip2)"},
		{"xz", []byte("\xfd7zXZ\x00\x00"), "data packed with xz: want text, plain or packed with gzip: unpack it first (unxz)"},
		{"Parquet", []byte("PAR1\x15\x04"), `a Parquet file: want text: export it as CSV or JSON first (pandas: read_parquet(FILE).to_csv("FILE.csv", index=False))`},
		{"SQLite", []byte("SQLite format 3\x00\x10"), "a SQLite database, as Nsight Systems writes too: want text: export it as CSV or JSON first (sqlite3 -header -csv FILE 'select ...')"},
		{"xlsx", zipped(t, zip.Deflate, member{"[Content_Types].xml", "<x/>"}, member{"xl/workbook.xml", "<x/>"}), "a spreadsheet or document of an office program: want text: export it as CSV or JSON first"},
		{"xls", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00"), "a spreadsheet or document of old Microsoft Office: want text: export it as CSV or JSON first"},
		{"npz", zipped(t, zip.Store, member{"arr_0.npy", "\x93NUMPY"}), ""},
		{"two files", zipped(t, zip.Deflate, member{"a.csv", sample}, member{"b.csv", sample}), `a zip archive with "a.csv" and "b.csv": want one file of text: unpack it first`},
		{"no file", zipped(t, zip.Deflate), "an empty zip archive: want one with one file of text"},
		{"a folder", zipped(t, zip.Deflate, member{"d/", ""}), "a zip archive without a file: want one with one file of text"},
		{"cut zip", whole[:60], "unexpected EOF"},
		{"damaged zip", damaged, `the zip archive is damaged: the checksum of "a.csv" is `},
		{"password", locked, "a zip archive with a password: want text, plain or packed with gzip"},
		{"tar", append(make([]byte, 257), "ustar\x0000"...), "a tar archive: want one file of text: unpack it first (tar -x)"},
		{"tar.gz", gzipped(append(append([]byte("a.csv"), make([]byte, 252)...), "ustar\x0000"...)), "a tar archive: want one file of text: unpack it first (tar -x)"},
		{"HTML", []byte("\n<!DOCTYPE html>\n<html>"), "a web page (HTML) in place of the file: want the file itself, as the page's download or raw link gives it"},
		{"Git LFS", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), "a Git LFS pointer in place of the file: want the file itself (git lfs pull)"},
		{"pickle", []byte("\x80\x04\x95\x10"), "a Python pickle: want text: export it as CSV or JSON first"},
		{"binary", []byte("ab\x00\x01\x02"), "binary data (a zero byte at position 2): want a file of text"},
		{"deep", gzipped(gzipped(gzipped([]byte(sample)))), "packed more than 2 times: want text, plain or packed once"},
	} {
		_, err := read(t, c.data)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestHalfACharacterIsACutText(t *testing.T) {
	data := utf16Of(sample, binary.LittleEndian, true)
	if _, err := read(t, data[:len(data)-1]); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	lone := append([]byte("\xff\xfe"), 'a', 0, 0x00, 0xd8, 'b', 0)
	if got, err := read(t, lone); got != "a\ufffdb" || err != nil {
		t.Errorf("half a pair: %q, %v", got, err)
	}
}

// Whatever the bytes are, the result is a text or one line of error, and the
// same however they arrive.
func FuzzOpen(f *testing.F) {
	for _, data := range [][]byte{
		[]byte(sample), gzipped([]byte(sample)), utf16Of(sample, binary.BigEndian, true), []byte("a\rb"),
		[]byte("PK\x03\x04\x14\x00\x00\x00\x08\x00"), []byte("PAR1"),
	} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(t, data)
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("not one line: %v", err)
		}
		text, slowErr := Open(iotest.HalfReader(bytes.NewReader(data)))
		if slowErr == nil {
			var all []byte
			if all, slowErr = io.ReadAll(text); string(all) != got && err == nil {
				t.Errorf("%q in halves, %q at once", all, got)
			}
		}
		if (err == nil) != (slowErr == nil) {
			t.Errorf("%v in halves, %v at once", slowErr, err)
		}
	})
}

func crc(text string) uint32 { return crc32.ChecksumIEEE([]byte(text)) }
