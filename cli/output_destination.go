package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// partialEnd is the ending of the name of an output until the output is whole.
const partialEnd = ".partial"

// destination is the file of an output. Until take it has a partial name in the same
// folder: a command that fails, is killed or fills the disk leaves an older file of the
// name as it was, and a file of the name is whole. Links are followed. A device, a pipe or a descriptor of this
// process is written to as it is; so is a file in a folder in which nothing may
// be made.
type destination struct {
	ctx     context.Context
	path    string // where the whole file will be
	partial string // its name until then; empty: path is written itself
	file    *os.File
	lent    bool        // file is standard output or error, and stays open
	made    fs.FileInfo // file once it was closed; nil: it was not made
	mode    fs.FileMode // of the file that is there, or 0
	begun   bool
}

// openDestination finds out what path is, and whether it can be written, and changes
// nothing that is there.
func openDestination(ctx context.Context, path string) (*destination, error) {
	d := &destination{ctx: ctx, path: path}
	if d.file, d.lent = descriptor(path); d.file != nil {
		return d, nil
	}
	at, info, err := followLinks(path)
	if err != nil {
		return nil, err
	}
	if d.file, d.lent = descriptor(at); d.file != nil {
		return d, nil
	}
	if info != nil && !info.Mode().IsRegular() && !info.IsDir() {
		return d, nil // opened when there is something to write: a pipe waits for its reader
	}
	if info != nil {
		if err := writable(at); err != nil {
			return nil, renamed(err, path)
		}
		d.mode = info.Mode().Perm()
	}
	d.path, d.partial = at, at+partialEnd
	switch err := d.try(); {
	case err == nil:
	case info != nil && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)):
		d.path, d.partial = path, ""
	default:
		return nil, renamed(err, path)
	}
	return d, nil
}

// try reports why the file with the partial name cannot be made.
func (d *destination) try() error {
	if _, err := os.Lstat(d.partial); err == nil {
		return nil // of an earlier command: it makes room at the first byte
	}
	err := d.make()
	d.discard()
	return err
}

// make makes the file with the partial name, which there must not be.
func (d *destination) make() (err error) {
	d.file, err = os.OpenFile(d.partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err == nil && d.mode != 0 {
		d.file.Chmod(d.mode) // some file systems have no modes
	}
	return err
}

// begin is the first byte: from here on there is something to lose.
func (d *destination) begin() (err error) {
	if d.begun {
		return nil
	}
	d.begun = true
	switch {
	case d.file != nil:
	case d.partial != "":
		if err := os.Remove(d.partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		err = d.make()
	default:
		d.file, err = d.openItself()
	}
	return err
}

// Write implements io.Writer.
func (d *destination) Write(b []byte) (int, error) {
	if err := d.begin(); err != nil {
		return 0, err
	}
	if d.file == nil {
		return 0, fs.ErrClosed
	}
	if d.ctx.Err() != nil { // a reader that reads still gets the rest
		d.file.SetWriteDeadline(time.Now().Add(lastWrite))
	}
	n, err := d.file.Write(b)
	return n, renamed(err, d.shown())
}

// lastWrite is how long a pipe may take nothing once the run was interrupted.
const lastWrite = 500 * time.Millisecond

// openItself opens a device, a pipe or a file that is written itself. Opening a
// pipe waits for its reader, or the end of ctx.
func (d *destination) openItself() (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	result := make(chan opened, 1)
	go func() {
		f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_TRUNC, 0) // not for reading: a pipe must see its reader leave
		result <- opened{f, err}
	}()
	select {
	case o := <-result:
		if o.err != nil {
			return nil, o.err
		}
		context.AfterFunc(d.ctx, func() { o.file.SetWriteDeadline(time.Now().Add(lastWrite)) })
		return o.file, nil
	case <-d.ctx.Done():
		return nil, &fs.PathError{Op: "write", Path: d.path, Err: errors.New("nobody has opened the pipe for reading")}
	}
}

// take gives a whole file its name.
func (d *destination) take() error {
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.keep(); err != nil || d.partial == "" {
		return renamed(err, d.shown())
	}
	if !d.ours() {
		return &fs.PathError{Op: "write", Path: d.path, Err: errTaken}
	}
	err := os.Rename(d.partial, d.path)
	if err != nil { // a file that is mounted by itself cannot be replaced
		err = d.copyOver(err)
	}
	return err
}

// copyOver is take where the name itself cannot be given to another file, for
// the reason because.
func (d *destination) copyOver(because error) error {
	from, err := os.Open(d.partial)
	if err != nil {
		return because
	}
	defer from.Close()
	to, err := os.OpenFile(d.path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return because
	}
	_, copied := io.Copy(to, from)
	if err := firstOf(copied, to.Close()); err != nil {
		return err
	}
	return os.Remove(d.partial)
}

// ours reports whether the file with the partial name is the one written here.
func (d *destination) ours() bool {
	now, err := os.Lstat(d.partial)
	return err == nil && d.made != nil && os.SameFile(now, d.made)
}

// keep closes the file. What is in it keeps the name that it has.
func (d *destination) keep() error {
	if d.file == nil || d.lent {
		return nil
	}
	if d.partial != "" {
		d.made, _ = d.file.Stat()
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// discard closes the file and removes it, if it has its partial name still.
func (d *destination) discard() {
	d.keep()
	if d.partial != "" && d.ours() {
		os.Remove(d.partial)
	}
}

// shown is the name of the file for errors of writing.
func (d *destination) shown() string {
	if d.partial != "" {
		return d.partial
	}
	return d.path
}

// renamed is an error of the file system with another path: what a user knows
// of.
func renamed(err error, path string) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// writable reports why a file that is there may not be written.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// followLinks follows a path to what is no link. The info is nil if there is
// nothing yet. A link to a descriptor ends there: what it leads to is open.
func followLinks(path string) (string, fs.FileInfo, error) {
	const most = 40
	for range most {
		if _, ok := descriptorNumber(path); ok {
			return path, nil, nil
		}
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, nil, nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, info, err
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", nil, err
		}
		if !filepath.IsAbs(to) {
			folder, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", nil, err
			}
			to = filepath.Join(folder, to)
		}
		path = to
	}
	return "", nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("too many links")}
}

// descriptor is the open file that a path like /dev/stdout names, nil for
// others. Opening it anew would cut a file off to which standard output goes.
func descriptor(path string) (file *os.File, lent bool) {
	switch n, ok := descriptorNumber(path); {
	case !ok:
		return nil, false
	case n == 1:
		return os.Stdout, true
	case n == 2:
		return os.Stderr, true
	default:
		return os.NewFile(uintptr(n), path), false
	}
}

func descriptorNumber(path string) (int, bool) {
	folder, name := filepath.Split(filepath.Clean(path))
	switch folder = filepath.Clean(folder); folder {
	case "/dev/fd", "/proc/self/fd", "/proc/" + strconv.Itoa(os.Getpid()) + "/fd":
		n, err := strconv.Atoi(name)
		return n, err == nil && n >= 0
	}
	return 0, false
}
