package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A line that starts a vLLM server says most of what a simulation of it needs to
// know. TranslateServe takes it as it stands:
//
//	vllm serve MODEL --tensor-parallel-size 2 --port 8000

// Serve sets what the arguments of a vLLM server say, with or without the words vllm
// serve before them. Settings of BLIS may stand among them, as their flags. The notes
// name the arguments without an effect. Its errors are an *InputError.
func (c *Config) Serve(args []string) (notes []string, err error) {
	flags, notes, err := TranslateServe(args)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(flags); i++ {
		name, isFlag := strings.CutPrefix(flags[i], "--")
		if !isFlag {
			return nil, inputErrorf("unexpected argument %s", flags[i])
		}
		name, value, given := strings.Cut(name, "=")
		switch positive, off := strings.CutPrefix(name, "no-"); {
		case given:
		case off:
			name, value = positive, "false"
		case isSwitch(name):
			value = "true"
		case i+1 < len(flags):
			i++
			value = flags[i]
		default:
			return nil, inputErrorf("--%s: want a value behind it", name)
		}
		if err := c.Set(name, value); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// TranslateServe translates the flags of vLLM in a command line to flags of BLIS;
// flags that BLIS has pass unchanged. An argument with no effect in the model is left
// out and noted. Arguments that ask for something that is not modelled are one
// *InputError, which names all of them.
func TranslateServe(args []string) (flags, notes []string, err error) {
	t := &translation{rest: withoutCommand(args)}
	for len(t.rest) > 0 {
		t.next()
	}
	t.finishOffloading()
	if len(t.unsupported) > 0 {
		return nil, nil, &InputError{strings.Join(t.unsupported, "; ")}
	}
	if len(t.ignored) > 0 {
		notes = append(notes, "no effect on a simulation: "+strings.Join(t.ignored, ", "))
	}
	for _, reason := range t.reasons {
		notes = append(notes, strings.Join(t.unmeasured[reason], ", ")+": "+reason)
	}
	return t.out, notes, nil
}

// withoutCommand returns the flags of "vllm serve MODEL …" and "python -m vllm… …",
// the model as --model.
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
	rest []string // arguments of vLLM, not yet translated
	out  []string // arguments of BLIS

	ignored     []string // flags without effect, each once
	unsupported []string // flags of what is not modelled, with the reason

	offloading offloading // what it says of the CPU tier

	reasons    []string            // the keys of unmeasured, in order
	unmeasured map[string][]string // flags by the reason why their effect is unknown
}

// next translates one flag with its values.
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
		case f.use == translated && strings.HasSuffix(f.name, "-lb"):
			t.takeBalancing(f, name)
		case f.use == translated:
			t.takeOffloading(f, arg, words)
		case f.use == noEffect:
			if !slices.Contains(t.ignored, name) {
				t.ignored = append(t.ignored, name)
			}
		case f.use == unmeasured:
			t.noteUnmeasured(f, name)
		case strings.HasPrefix(name, "--no-") || len(words) == 1 && f.asksForNothing(words[0]): // asks for what BLIS does anyway
		default:
			t.refuse("%s: %s", strings.Join(append([]string{name}, words...), " "), f.why)
		}
	}
}

// refuse adds a reason why the line is refused.
func (t *translation) refuse(format string, args ...any) {
	t.unsupported = append(t.unsupported, fmt.Sprintf(format, args...))
}

// noteUnmeasured adds a flag whose effect was not measured.
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

// passOn translates a flag that BLIS has too: to its name and form of value in BLIS.
func (t *translation) passOn(f *serveFlag, name, value string, given bool) {
	flag := "--" + f.as
	if strings.HasPrefix(name, "--no-") {
		flag = "--no-" + f.as
	}
	if !given && !strings.HasPrefix(flag, "--no-") {
		value, given = t.valueOf(f)
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

// valueOf takes the next argument if it is the value of a flag that BLIS has too.
func (t *translation) valueOf(f *serveFlag) (value string, given bool) {
	if len(t.rest) == 0 {
		return "", false
	}
	word := t.rest[0]
	if isSwitch(f.as) { // older lines write True or False behind a switch
		if _, err := strconv.ParseBool(strings.ToLower(word)); err != nil || len(word) == 1 {
			return "", false
		}
		word = strings.ToLower(word)
	} else if strings.HasPrefix(word, "-") && !(isNegativeNumber(word) && f.as == "max-model-len") {
		return "", false
	}
	t.rest = t.rest[1:]
	return word, true
}

// isNegativeNumber reports whether an argument with a dash is a number, not a flag.
func isNegativeNumber(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] >= '0' && word[1] <= '9'
}

// valuesOf takes the values of a flag that BLIS does not have.
func (t *translation) valuesOf(f *serveFlag, value string, given bool) []string {
	if given {
		return []string{value}
	}
	var words []string
	for len(t.rest) > 0 && f.takes != noValue && (f.takes == someWords || len(words) == 0) {
		if word := t.rest[0]; strings.HasPrefix(word, "-") && !isNegativeNumber(word) {
			break
		}
		words, t.rest = append(words, t.rest[0]), t.rest[1:]
	}
	return words
}

// lookUpServeFlag finds the flag of vLLM that an argument gives, nil if none has the
// name. Underscores count as dashes, and a dot begins the value:
// --compilation-config.mode 3. name is the flag with dashes and without value.
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

// isSwitch reports whether a setting is on or off.
func isSwitch(name string) bool {
	if _, setting := ofPoolSetting(new(Config), name); setting != "" {
		name = setting
	}
	for s := range new(Config).Settings() {
		if t := s.Value.Type(); s.Name == name {
			return t.Kind() == reflect.Bool || t == reflect.TypeFor[*bool]()
		}
	}
	return false
}

// plainNumber writes 16k (of 1,000) and 16K (of 1,024) in digits, as vLLM reads them,
// and returns any other text unchanged.
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
