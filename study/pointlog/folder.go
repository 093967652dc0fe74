package pointlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// DefaultStem begins the names of the files of a sweep's points.
const DefaultStem = "points"

// Shard is a part of a sweep that a process of its own runs. The zero Shard is the
// whole.
type Shard struct {
	I, N int // 0 ≤ I < N
}

// String is "I/N", or "whole".
func (s Shard) String() string {
	if s == (Shard{}) {
		return "whole"
	}
	return fmt.Sprintf("%d/%d", s.I, s.N)
}

func (s Shard) check() error {
	if s != (Shard{}) && (s.I < 0 || s.I >= s.N) {
		return fmt.Errorf("shard %d/%d: want I/N with 0 ≤ I < N", s.I, s.N)
	}
	return nil
}

// name is the name of a shard's files without extension.
func (s Shard) name(stem string) string {
	if s == (Shard{}) {
		return stem
	}
	return fmt.Sprintf("%s-%d-of-%d", stem, s.I, s.N)
}

// logs are the paths of all logs of a stem in a folder, sorted.
func logs(dir, stem string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	pattern := regexp.MustCompile(`^` + regexp.QuoteMeta(stem) + `(-[0-9]+-of-[0-9]+)?\.jsonl$`)
	var paths []string
	for _, f := range list {
		if pattern.MatchString(f.Name()) {
			paths = append(paths, filepath.Join(dir, f.Name()))
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// errHeld is the error of a lock that another process has.
var errHeld = errors.New("held by another process")

// locks are held until they are closed.
type locks []*os.File

// lock takes the lock that is a file with this path. Where the filesystem has no
// locks note is called.
func (l *locks) lock(path string, shared bool, note func(string)) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	err = flock(f, shared)
	if errors.Is(err, errors.ErrUnsupported) {
		note(fmt.Sprintf("%s: the filesystem has no locks: let only one process write there", filepath.Dir(path)))
		err = nil
	}
	if err != nil {
		f.Close()
		return err
	}
	*l = append(*l, f)
	return nil
}

func (l *locks) close() {
	for _, f := range *l {
		f.Close()
	}
	*l = nil
}

// lockFolder takes the locks of a shard: its own, and with the other shards that of
// the folder, which the whole has alone.
func lockFolder(dir, stem string, shard Shard, note func(string)) (locks, error) {
	var l locks
	whole := shard == (Shard{})
	err := l.lock(filepath.Join(dir, stem+".lock"), !whole, note)
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("%s: another process writes %s there: wait until it ends, or use another folder", dir, stem)
	}
	if err == nil && !whole {
		err = l.lock(filepath.Join(dir, shard.name(stem)+".lock"), false, func(string) {})
		if errors.Is(err, errHeld) {
			err = fmt.Errorf("%s: another process runs shard %s of %s there: wait until it ends, or use another folder", dir, shard, stem)
		}
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}
