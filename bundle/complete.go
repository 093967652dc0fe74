package bundle

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"blis/policy"
)

// Complete returns the effective bundle. Each kind has its type, and every parameter
// its value, by its name and in the order of the template; settings of tenants
// follow, by name. Weights are an exception: if one is given only the given ones
// count, in the order given, else the defaults that are not 0. Single fields and
// metadata stay as they are. A bad type or parameter is a
// *policy.Error.
func (b Bundle) Complete() (Bundle, error) {
	list := sections()
	for i := range list {
		s := &list[i]
		if s.selection == nil {
			continue
		}
		c := s.selection(&b)
		t, err := c.template(policy.Kind(s.name))
		if err != nil {
			return Bundle{}, err
		}
		params, err := t.Complete(c.Params)
		if err != nil {
			return Bundle{}, err
		}
		*c = Selection{Type: t.Name, Params: params}
	}
	return b, nil
}

// Read puts the text of files that parameters name into the parameters for it, where
// these are not given. An error of read is a *policy.Error, which Locate finds.
func (b *Bundle) Read(read func(path string) ([]byte, error)) error {
	list := sections()
	for i := range list {
		s := &list[i]
		if s.selection == nil {
			continue
		}
		c := s.selection(b)
		t, err := c.template(policy.Kind(s.name))
		if err != nil {
			continue // Complete says so
		}
		for p, path, found := t.Unread(c.Params); found; p, path, found = t.Unread(c.Params) {
			text, err := read(path)
			switch {
			case err == nil && len(text) == 0:
				err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is empty")}
			case !utf8.Valid(text):
				err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is no text in UTF-8")}
			}
			if err != nil {
				return b.Locate(&policy.Error{Field: t.Path(p.Name), Problem: fileProblem(err)})
			}
			c.Params = append(slices.Clone(c.Params), policy.Setting{Name: p.Content, Value: string(text)})
		}
	}
	return nil
}

// Files lists the files that Read reads.
func (b *Bundle) Files() (list []string) {
	copied := *b
	copied.Read(func(path string) ([]byte, error) { // which cannot fail
		list = append(list, path)
		return []byte(path), nil
	})
	return list
}

// fileProblem words the error of a file without the call of the system.
func fileProblem(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Path + ": " + path.Err.Error()
	}
	return err.Error()
}

// Draws reports whether the policy of a kind draws. It is false for one that cannot
// be made.
func (b *Bundle) Draws(kind policy.Kind) bool {
	list := sections()
	for i := range list {
		s := &list[i]
		if s.selection == nil || s.name != string(kind) {
			continue
		}
		c := s.selection(b)
		t, err := c.template(kind)
		if err != nil {
			return false
		}
		draws, err := t.Draws(c.Params)
		return err == nil && draws
	}
	return false
}

// Seeded reports whether these policies make a run depend on its seed, beside its
// traffic: they draw, among equally good instances or otherwise, or draw times to
// provision a machine or load a model. Replicates of such a run of a trace differ
// only by chance in the cluster. It is false for a bundle that cannot run.
func (b *Bundle) Seeded() bool {
	if _, err := b.Complete(); err != nil {
		return false
	}
	for _, kind := range policy.Kinds {
		if b.Draws(kind) {
			return true
		}
	}
	scales := b.Autoscale.Type != "" && b.Autoscale.Type != policy.OfKind(policy.AutoscaleKind)[0].Name
	return scales && (strings.Contains(b.Autoscale.Provisioning, ",") || strings.Contains(b.Autoscale.ModelLoad, ","))
}
