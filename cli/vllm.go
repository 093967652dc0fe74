package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A line that starts a vLLM server says most of what a simulation of it wants to
// know. So run, verify and compare take its flags as they stand, whole lines too:
//
//	blis run vllm serve MODEL --tensor-parallel-size 2 --port 8000 --rate 20

// serveLine translates the flags of vLLM in a command line to flags of BLIS. What
// has no effect in the model is left out and noted; what asks for something that
// is not modelled is an error that names all of it.
func serveLine(args []string) (translated, notes []string, err error) {
	if len(args) == 0 || !slices.Contains([]string{"run", "verify", "compare"}, args[0]) {
		return args, nil, nil
	}
	t := &translation{out: args[:1:1], rest: withoutCommand(args[1:])}
	for len(t.rest) > 0 {
		t.next()
	}
	if len(t.unsupported) > 0 {
		return nil, nil, &inputError{strings.Join(t.unsupported, "; ")}
	}
	if len(t.ignored) > 0 {
		notes = append(notes, "no effect on a simulation: "+strings.Join(t.ignored, ", "))
	}
	for _, reason := range t.reasons {
		notes = append(notes, strings.Join(t.unmeasured[reason], ", ")+": "+reason)
	}
	return t.out, notes, nil
}

// withoutCommand makes of "vllm serve MODEL …" and "python -m vllm… …" the flags
// that say the same.
func withoutCommand(args []string) []string {
	switch {
	case len(args) >= 2 && args[0] == "vllm" && args[1] == "serve":
		args = args[2:]
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			args = append([]string{"--model", args[0]}, args[1:]...)
		}
	case len(args) >= 3 && strings.HasPrefix(args[0], "python") && args[1] == "-m" && strings.HasPrefix(args[2], "vllm."):
		args = args[3:]
	}
	return args
}

// translation is a command line that is partly translated.
type translation struct {
	rest, out            []string
	ignored, unsupported []string

	reasons    []string // in order
	unmeasured map[string][]string
}

// next takes one argument, and what belongs to it.
func (t *translation) next() {
	arg := t.rest[0]
	t.rest = t.rest[1:]
	if arg == "--" {
		t.out, t.rest = append(append(t.out, arg), t.rest...), nil
		return
	}
	f, name, value, given := lookUpServeFlag(arg)
	switch {
	case f == nil:
		t.out = append(t.out, arg)
	case f.use == sameThing:
		t.passOn(f, name, value, given)
	default:
		words := t.valuesOf(f, value, given)
		switch {
		case f.use == noEffect:
			if !slices.Contains(t.ignored, name) {
				t.ignored = append(t.ignored, name)
			}
		case f.use == unmeasured:
			t.noteUnmeasured(f, name)
		case strings.HasPrefix(name, "--no-") || len(words) == 1 && f.asksForNothing(words[0]): // what is not there anyway
		default:
			t.unsupported = append(t.unsupported, strings.Join(append([]string{name}, words...), " ")+": "+f.why)
		}
	}
}

// noteUnmeasured remembers a flag whose effect was not measured.
func (t *translation) noteUnmeasured(f *serveFlag, name string) {
	if t.unmeasured == nil {
		t.unmeasured = map[string][]string{}
	}
	if t.unmeasured[f.why] == nil {
		t.reasons = append(t.reasons, f.why)
	}
	if !slices.Contains(t.unmeasured[f.why], name) {
		t.unmeasured[f.why] = append(t.unmeasured[f.why], name)
	}
}

// passOn hands on a flag that BLIS has too, by its name here and with a value that it
// reads.
func (t *translation) passOn(f *serveFlag, name, value string, given bool) {
	flag := "--" + f.as
	if strings.HasPrefix(name, "--no-") {
		flag = "--no-" + f.as
	}
	if !given && len(t.rest) > 0 && !strings.HasPrefix(flag, "--no-") {
		word := t.rest[0]
		negative := regexp.MustCompile(`^-\d`).MatchString(word)
		if isSwitch(f.as) { // older lines write True or False behind it
			if _, err := strconv.ParseBool(strings.ToLower(word)); err == nil && len(word) > 1 {
				value, given, t.rest = strings.ToLower(word), true, t.rest[1:]
			}
		} else if !strings.HasPrefix(word, "-") || negative && f.as == "max-model-len" {
			value, given, t.rest = word, true, t.rest[1:]
		}
	}
	if !given {
		t.out = append(t.out, flag)
		return
	}
	switch f.as {
	case "max-model-len":
		if value == "auto" || value == "-1" {
			value = "0"
		}
		value = plainNumber(value)
	case "max-num-batched-tokens":
		value = plainNumber(value)
	case "model":
		if isModelOnDisk(value) {
			flag = "--model-config-folder"
		}
	}
	t.out = append(t.out, flag+"="+value)
}

// valuesOf takes the words that belong to a flag which BLIS does not have.
func (t *translation) valuesOf(f *serveFlag, value string, given bool) []string {
	if given {
		return []string{value}
	}
	var words []string
	for len(t.rest) > 0 && f.takes != noValue && (f.takes == someWords || len(words) == 0) {
		if word := t.rest[0]; strings.HasPrefix(word, "-") && !regexp.MustCompile(`^-\d`).MatchString(word) {
			break
		}
		words, t.rest = append(words, t.rest[0]), t.rest[1:]
	}
	return words
}

// lookUpServeFlag finds the flag of vLLM that an argument is, nil if it is none.
// Underscores count as dashes, and what follows a dot belongs to the value:
// --compilation-config.mode 3. name is the flag as it was meant.
func lookUpServeFlag(arg string) (f *serveFlag, name, value string, given bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return nil, "", "", false
	}
	name, value, given = strings.Cut(arg, "=")
	name, _, _ = strings.Cut(name, ".")
	if strings.HasPrefix(name, "--") {
		name = strings.ReplaceAll(name, "_", "-")
	}
	all := serveFlags()
	if f = all[name]; f != nil {
		return f, name, value, given
	}
	if positive, negated := strings.CutPrefix(name, "--no-"); negated {
		if f = all["--"+positive]; f != nil && (f.takes == noValue || f.use == sameThing && isSwitch(f.as)) {
			return f, name, value, given
		}
	}
	if level, short := strings.CutPrefix(name, "-O"); short && len(level) == 1 { // -O3
		return all["-O"], "-O", level, true
	}
	return nil, "", "", false
}

// isSwitch reports whether a flag of BLIS that vLLM has is on or off.
func isSwitch(name string) bool {
	for f := range engineArgs.Fields() {
		if f.Tag.Get("json") == name {
			return f.Type.Kind() == reflect.Bool
		}
	}
	return name == "async-scheduling"
}

// plainNumber writes 16k (thousands) and 16K (of 1,024) out, as vLLM reads them.
// Everything else stays as it is.
func plainNumber(text string) string {
	factors := map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
	if text == "" || factors[text[len(text)-1:]] == 0 {
		return text
	}
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	if total := n * factors[text[len(text)-1:]]; err == nil && total >= 0 && total < 1<<53 {
		return strconv.FormatInt(int64(total), 10)
	}
	return text
}

// isModelOnDisk reports whether a model is named by a folder with a config.json,
// or by such a file.
func isModelOnDisk(name string) bool {
	info, err := os.Stat(name)
	if err != nil {
		return false
	}
	if info.IsDir() {
		_, err = os.Stat(filepath.Join(name, "config.json"))
	}
	return err == nil
}
