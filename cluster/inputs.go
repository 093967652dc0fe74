package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"
)

// maxInputs bounds the bytes of all inputs of a sweep.
const maxInputs = 1 << 30

// maxDefinition bounds the text of a definition, in bytes.
const maxDefinition = 64 << 20

// checkInputs refuses inputs that cannot travel: folders, and more than maxInputs bytes.
func checkInputs(list []Input) error {
	total := int64(0)
	for _, in := range list {
		info, err := os.Stat(in.Path)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return inputErrorf("%s: not a file: workers get files only; name a file in it, or use blis sweep --shard on machines that share the folder", in.Path)
		}
		total += info.Size()
	}
	if total > maxInputs {
		return inputErrorf("the inputs have %d bytes, at most %d travel to workers: use blis sweep --shard on machines that share the files", total, int64(maxInputs))
	}
	return nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// offer puts what workers need into the object store, under its SHA-256, unless it is
// there.
func offer(ctx context.Context, js jetstream.JetStream, j *job, definition []byte) error {
	store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: j.ID.bucket(), Storage: jetstream.FileStorage})
	if err != nil {
		return err
	}
	there := func(name string) bool {
		_, err := store.GetInfo(ctx, name)
		return err == nil
	}
	if !there(j.Definition) {
		if _, err := store.PutBytes(ctx, j.Definition, definition); err != nil {
			return err
		}
	}
	for _, in := range j.Inputs {
		if there(in.SHA256) {
			continue
		}
		if err := offerFile(ctx, store, in); err != nil {
			return err
		}
	}
	return nil
}

func offerFile(ctx context.Context, store jetstream.ObjectStore, in Input) error {
	f, err := os.Open(in.Path)
	if err != nil {
		return fatal{err}
	}
	defer f.Close()
	sum := sha256.New()
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: in.SHA256}, io.TeeReader(f, sum))
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != in.SHA256 {
		return fatal{inputErrorf("%s: changed since the sweep began", in.Path)}
	}
	return err
}

// cache are files by their SHA-256, on the disk of a worker.
type cache struct{ dir string }

// userCache is the cache of the user.
func userCache() (cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	c := cache{filepath.Join(dir, "blis", "inputs")}
	return c, os.MkdirAll(c.dir, 0o700)
}

func (c cache) path(sum string) string { return filepath.Join(c.dir, sum) }

// has reports whether a file is there, whole and unchanged.
func (c cache) has(sum string) bool {
	f, err := os.Open(c.path(sum))
	if err != nil {
		return false
	}
	defer f.Close()
	got := sha256.New()
	_, err = io.Copy(got, f)
	return err == nil && hex.EncodeToString(got.Sum(nil)) == sum
}

// fetch brings a file into the cache. left is how many bytes may still come.
func (c cache) fetch(ctx context.Context, store jetstream.ObjectStore, sum string, left *int64) error {
	if c.has(sum) {
		return nil
	}
	object, err := store.Get(ctx, sum)
	if err != nil {
		return err
	}
	defer object.Close()
	f, err := os.CreateTemp(c.dir, ".fetch.*.tmp")
	if err != nil {
		return fatal{err}
	}
	defer os.Remove(f.Name())
	got := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, got), io.LimitReader(object, *left+1))
	if closed := f.Close(); err == nil && closed != nil {
		return fatal{closed}
	}
	switch *left -= n; {
	case err != nil:
		return err
	case *left < 0:
		return fatal{fmt.Errorf("the inputs of the sweep have more than %d bytes", int64(maxInputs))}
	case hex.EncodeToString(got.Sum(nil)) != sum:
		return errors.New("an input came with another content")
	}
	return os.Rename(f.Name(), c.path(sum))
}

// fetchAll brings the definition of a job and its inputs here. open opens an input by the
// path that the definition has.
func (c cache) fetchAll(ctx context.Context, js jetstream.JetStream, j *job) (definition []byte, inputs map[string]string, err error) {
	store, err := js.ObjectStore(ctx, j.ID.bucket())
	if err != nil {
		return nil, nil, err
	}
	left := int64(maxInputs + maxDefinition)
	if err := c.fetch(ctx, store, j.Definition, &left); err != nil {
		return nil, nil, err
	}
	inputs = map[string]string{}
	for _, in := range j.Inputs {
		if err := c.fetch(ctx, store, in.SHA256, &left); err != nil {
			return nil, nil, err
		}
		inputs[in.Path] = c.path(in.SHA256)
	}
	definition, err = os.ReadFile(c.path(j.Definition))
	return definition, inputs, err
}
