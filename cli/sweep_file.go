package cli

import (
	"blis/input"
	"blis/setup"
	"blis/study"
	"blis/study/sweepfile"
)

// ReadSweep reads a sweep file. Variables of the environment do not count: a sweep is
// what its file says, on every machine. Its errors are an *setup.InputError.
func ReadSweep(path string) (study.Sweep, error) {
	text, err := input.ReadFile(path, sweepfile.MaxBytes)
	if err != nil {
		return study.Sweep{}, inputError(pathProblem(err))
	}
	return ParseSweep(path, text)
}

// ParseSweep reads the text of a sweep file, or of the lock of a sweep's folder. Files
// that it names are relative to that of the given name.
func ParseSweep(name string, text []byte) (study.Sweep, error) {
	reader := sweepfile.Reader{Base: readBase, Bundle: argumentBundle}
	return reader.Read(name, text)
}

// readBase reads settings as blis run --config does: from a file, or from text with the
// lines that it has there.
func readBase(path string, text []byte) (setup.Config, error) {
	if text == nil {
		var err error
		if text, err = readConfig(path); err != nil {
			return setup.Config{}, inputError(pathProblem(err))
		}
	}
	file, err := parseConfig(path, text)
	if err != nil {
		return setup.Config{}, err
	}
	grammar := &runOnly{}
	l := &settingSources{lookup: func(string) (string, bool) { return "", false }, loaded: true, file: file}
	parser, err := newParser(grammar, l)
	if err != nil {
		return setup.Config{}, err
	}
	command, err := parser.Parse([]string{"run"})
	if err == nil {
		err = applyPolicySettings(command, l)
	}
	if err != nil {
		return setup.Config{}, inputError(errorLine(err))
	}
	return grammar.Run.Config.Config, nil
}
