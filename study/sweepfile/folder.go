package sweepfile

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"blis/actors"
	"blis/setup"
	"blis/study"
	"blis/study/pointlog"
)

// Folder is the folder of a sweep while it runs: its lock and its rows.
type Folder struct {
	Log *pointlog.Log

	plan     *study.SweepPlan
	distinct []uint32 // the first points of each key, in the order in which they run
	share    []uint32 // of them, those of the shard
}

// Open opens the folder of a plan, which it makes if it is not there. A folder that has
// the lock of another sweep, of other input files or of another version of blis, is an
// *setup.InputError. Version and shard of the options are set.
func Open(dir string, p *study.SweepPlan, o pointlog.Options) (*Folder, error) {
	lock, err := Lock(p)
	if err != nil {
		return nil, err
	}
	o.Version = actors.SemanticsVersion
	log, err := pointlog.Open(dir, o)
	if err != nil {
		return nil, inputFault(err)
	}
	f := &Folder{Log: log, plan: p, distinct: distinct(p)}
	f.share = f.distinct
	if o.Shard != (pointlog.Shard{}) {
		f.share = nil
		for k := o.Shard.I; k < len(f.distinct); k += o.Shard.N {
			f.share = append(f.share, f.distinct[k])
		}
	}
	if err := f.checkLock(filepath.Join(dir, LockName), lock); err != nil {
		log.Close()
		return nil, err
	}
	return f, nil
}

// inputFault makes an *setup.InputError of what is wrong with a folder.
func inputFault(err error) error {
	var input *setup.InputError
	if errors.As(err, &input) {
		return err
	}
	return &setup.InputError{Text: err.Error()}
}

// checkLock writes the lock, or compares it with the one that is there.
func (f *Folder) checkLock(path string, lock []byte) error {
	found, err := pointlog.CreateFile(path, lock)
	if err != nil {
		return inputFault(err)
	}
	if found == nil || bytes.Equal(found, lock) {
		return nil
	}
	for _, in := range f.plan.Inputs() {
		line := func(sum string) string { return fmt.Sprintf("\n    %s: %s", quoted(in.Path), sum) }
		if bytes.Contains(found, []byte(line(`"`))) && !bytes.Contains(found, []byte(line(quoted(in.SHA256)))) {
			return &setup.InputError{Text: fmt.Sprintf("%s: another content than when the sweep of %s began: want the file as it was, or another folder", in.Path, filepath.Dir(path))}
		}
	}
	was, now := bytes.Split(found, []byte("\n")), bytes.Split(lock, []byte("\n"))
	for i := range was {
		if i >= len(now) || !bytes.Equal(was[i], now[i]) {
			what := ""
			if i < len(now) {
				what = ", now it would be " + clipped(now[i])
			}
			return &setup.InputError{Text: fmt.Sprintf("%s:%d: the folder is of another sweep: %s%s: want the same sweep, input files and version of blis, or another folder", path, i+1, clipped(was[i]), what)}
		}
	}
	return &setup.InputError{Text: path + ": the folder is of another sweep: want another folder"}
}

func clipped(line []byte) string {
	const most = 100
	if len(line) > most {
		line = append(line[:most:most], "…"...)
	}
	return fmt.Sprintf("%q", line)
}

// Share are the points of the shard, most work first, without those whose key an earlier
// one has. The list is shared and must not be changed.
func (f *Folder) Share() []uint32 { return f.share }

// Distinct is Share without shards.
func (f *Folder) Distinct() []uint32 { return f.distinct }

func distinct(p *study.SweepPlan) []uint32 {
	first := make(map[pointlog.Key]uint32, p.Len())
	for i := range uint32(p.Len()) {
		if _, earlier := first[p.Key(int64(i))]; !earlier {
			first[p.Key(int64(i))] = i
		}
	}
	var list []uint32
	for _, i := range p.Order() {
		if first[p.Key(int64(i))] == i {
			list = append(list, i)
		}
	}
	return list
}

// Todo are the points of Share that have no row that stands, see pointlog.Row.Done.
func (f *Folder) Todo(retryFailed bool) []uint32 {
	var list []uint32
	for _, i := range f.share {
		if !f.Log.Done(f.plan.Key(int64(i)), retryFailed) {
			list = append(list, i)
		}
	}
	return list
}

// Finish writes the sorted file, if every point of the sweep has a row. missing is how
// many have none: of the other shards.
func (f *Folder) Finish() (missing int, err error) {
	err = f.Log.WriteSorted(Labels(f.plan))
	var some *pointlog.MissingError
	if errors.As(err, &some) {
		return some.Missing, nil
	}
	return 0, err
}

// Labels yields every point of a plan, as the sorted file has them.
func Labels(p *study.SweepPlan) iter.Seq[pointlog.Label] {
	return func(yield func(pointlog.Label) bool) {
		for i := range p.Len() {
			if !yield(pointlog.Label{Index: i, Axes: p.Coordinates(i), Key: p.Key(i)}) {
				return
			}
		}
	}
}

// Close writes what is pending and gives the lock back.
func (f *Folder) Close() error { return f.Log.Close() }
