package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"blis/input"
	"blis/latency"
)

// Deployment returns the model, GPU and TP of every instance of the configuration. It
// reads the files of the model. Its errors are an InputError.
func (c Config) Deployment() (*latency.Deployment, error) {
	p := newResolver(c)
	if err := p.resolveModel(); err != nil {
		return nil, &InputError{err.Error()}
	}
	if !validTP(c.TP) {
		return nil, inputErrorf("--tp is %d: want 1 to 1024", c.TP)
	}
	return &p.server.Deployment, nil
}

// OpenModel returns the model of a Hugging Face config.json, of the folder of one, or
// else the built-in model of that name. Its errors are an InputError.
func OpenModel(name string) (latency.ModelSpec, error) {
	path, inFolder := modelFile(name)
	text, err := input.ReadFile(path, input.Model)
	if err == nil {
		return parsed(latency.ParseModel(text, path))
	}
	spec, unknown := latency.FindModel(name)
	switch {
	case unknown == nil:
		return spec, nil
	case inFolder || !errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(name, ".json"):
		return spec, &InputError{fileProblem(err)}
	}
	var u *latency.Unknown
	if errors.As(unknown, &u) {
		u.Remedy = "or give any other model's config.json, or its folder"
	}
	return spec, &InputError{unknown.Error()}
}

// OpenHardware returns the GPU of that name: one of the file of --hardware-config, if
// a file is given, else a built-in one. Its errors are an InputError.
func OpenHardware(name, file string) (latency.Hardware, error) {
	return openHardware(name, file, input.ReadFile)
}

func openHardware(name, file string, read readFunc) (latency.Hardware, error) {
	var own []latency.Hardware
	if file != "" {
		text, err := read(file, input.Settings)
		if err != nil {
			return latency.Hardware{}, fileError("hardware-config", err)
		}
		if own, err = latency.ParseHardware(text, file); err != nil {
			return latency.Hardware{}, &InputError{err.Error()}
		}
	}
	return parsed(latency.FindHardware(name, own...))
}

// parsed makes an error of the user's an InputError.
func parsed[T any](value T, err error) (T, error) {
	if err != nil {
		err = &InputError{err.Error()}
	}
	return value, err
}

// modelFile returns the config.json of a model that is named by it or by its folder.
func modelFile(name string) (path string, inFolder bool) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return filepath.Join(name, "config.json"), true
	}
	return name, false
}

// modelSpec returns the model of the configuration.
func modelSpec(c *Config) (latency.ModelSpec, error) {
	if c.ModelConfigFolder == "" {
		return latency.FindModel(c.Model)
	}
	file, _ := modelFile(c.ModelConfigFolder)
	text, err := readFile(c, file, input.Model)
	if err != nil {
		return latency.ModelSpec{}, fileError("model-config-folder", err)
	}
	return latency.ParseModel(text, file)
}
