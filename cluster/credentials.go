package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"blis/setup"
	"blis/study/pointlog"
)

func inputErrorf(format string, args ...any) error {
	return &setup.InputError{Text: fmt.Sprintf(format, args...)}
}

// CredentialFile is the file in the folder of a sweep with the key of workers.
func CredentialFile(dir string) string { return filepath.Join(dir, "creds", "worker.nk") }

// identity reads the name of the sweep in a folder, which is made there once.
func identity(dir string) (sweepID, error) {
	if err := makeCredentials(dir); err != nil {
		return "", err
	}
	name := []byte(randomName())
	path := filepath.Join(dir, "creds", "sweep")
	found, err := pointlog.CreateFile(path, name)
	if err != nil || found == nil {
		return sweepID(name), err
	}
	if len(found) != len(name) || bytes.ContainsAny(found, ".*> \n") {
		return "", inputErrorf("%s: not the name of a sweep: remove it to begin a new one", path)
	}
	return sweepID(found), nil
}

func makeCredentials(dir string) error {
	folder := filepath.Join(dir, "creds")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.Chmod(folder, 0o700)
}

// workerKey is the public half of the key of workers. The key is made where there is
// none.
func workerKey(dir string) (string, error) {
	path := CredentialFile(dir)
	seed, err := readSecret(path)
	if errors.Is(err, fs.ErrNotExist) {
		if seed, err = newSeed(); err == nil {
			err = writeSecret(path, seed)
		}
	}
	if err != nil {
		return "", err
	}
	defer clear(seed)
	pair, err := nkeys.ParseDecoratedUserNKey(seed)
	if err != nil {
		return "", inputErrorf("%s: not an nkey of a user: remove it, and serve makes another", path)
	}
	defer pair.Wipe()
	return pair.PublicKey()
}

func newSeed() ([]byte, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	return pair.Seed()
}

// writeSecret writes a file that only its owner can read, from its first byte on.
func writeSecret(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(bytes.Clone(content), '\n'))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// readSecret reads a file that only its owner can read.
func readSecret(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && runtime.GOOS != "windows" {
		return nil, inputErrorf("%s: others can read or write it (mode %04o): chmod 600", path, info.Mode().Perm())
	}
	if info.Size() > 1<<16 {
		return nil, inputErrorf("%s: %d bytes: not a credential", path, info.Size())
	}
	return os.ReadFile(path)
}

// credential is the option of a connection that shows the credential in a file: an nkey,
// or the credentials file of a NATS account.
func credential(path string) (nats.Option, error) {
	if path == "" {
		return nil, inputErrorf("--creds: want the file with the credential; serve makes one, DIR/creds/worker.nk")
	}
	text, err := readSecret(path)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	if bytes.Contains(text, []byte("NATS USER JWT")) {
		return nats.UserCredentials(path), nil
	}
	option, err := nats.NkeyOptionFromSeed(path)
	if err != nil {
		return nil, inputErrorf("--creds %s: neither an nkey nor the credentials file of a NATS account", path)
	}
	return option, nil
}
