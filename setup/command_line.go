package setup

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"blis/bundle"
)

// Flags returns the flags of blis run that give a configuration, without Custom: those
// whose settings are not at their defaults. Each is one argument.
func Flags(c *Config) []string {
	var flags []string
	whole := !flagsSayPolicies(c)
	for s := range c.NotDefault() {
		switch _, ofBundle := s.Tag.Lookup("bundle"); {
		case s.Name == "policies" && whole:
			text, err := c.Policies.MarshalJSON()
			if err != nil {
				panic(err) // it was read
			}
			flags = append(flags, "--policies="+string(text))
		case s.Name == "policies" || ofBundle && whole:
		case s.Value.Type() == reflect.TypeFor[Overrides]():
			flags = append(flags, s.Value.Interface().(Overrides).flags(s.Name)...)
		default:
			flags = append(flags, flagOf(s.Name, s.Value))
		}
	}
	return flags
}

// flagsSayPolicies reports whether the flags of the bundle's fields that are not at their
// defaults make the whole bundle.
func flagsSayPolicies(c *Config) bool {
	var made bundle.Bundle
	var edits []Edit
	for s := range c.NotDefault() {
		if _, ofBundle := s.Tag.Lookup("bundle"); ofBundle {
			edits = append(edits, Edit{Flag: s.Name, Text: Text(s.Value.Interface()), Origin: FromFlag, Where: "--" + s.Name})
		}
	}
	return ApplyEdits(&made, edits) == nil && made.Equal(c.Policies)
}

// flagOf is a flag with its value.
func flagOf(name string, v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Bool {
		return "--" + name + "=" + valueText(v)
	}
	if v.Bool() {
		return "--" + name
	}
	return "--no-" + name
}

// valueText returns the value of a setting as its flag reads it; of a pointer, which is not
// nil, what it points to.
func valueText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		return valueText(v.Elem())
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, strconv.FormatFloat(v.Index(i).Float(), 'g', -1, 64))
		}
		return strings.Join(parts, ",")
	}
	return Text(v.Interface())
}

// ServeArguments returns the arguments of vllm serve for an instance of an effective
// configuration: model, GPUs, and the limits of its scheduler. What a server would choose by
// itself is left out, but for the limits, which versions of vLLM choose differently.
func ServeArguments(c *Config, model string) []string {
	args := []string{"vllm", "serve", model, "--tensor-parallel-size", strconv.Itoa(c.TP),
		"--max-num-seqs", fmt.Sprint(c.MaxNumSeqs), "--max-num-batched-tokens", fmt.Sprint(c.MaxNumBatchedTokens)}
	derived := map[string]bool{"model": true, "tp": true, "max-num-seqs": true, "max-num-batched-tokens": true, "max-model-len": true, "num-gpu-blocks-override": true, "seed": true, "config": true, "async-scheduling": true}
	for _, f := range sameFlags() {
		if derived[f.as] {
			continue
		}
		for s := range c.NotDefault() {
			if s.Name != f.as {
				continue
			}
			flag := flagOf(f.name, s.Value)
			name, value, given := strings.Cut(flag, "=")
			if f.as == "scheduler" {
				value = strings.TrimSuffix(value, "-fcfs")
				if value != "priority" && value != "fcfs" {
					continue // vLLM has no other
				}
			}
			if args = append(args, name); given {
				args = append(args, value)
			}
		}
	}
	return append(args, serveCPUTier(c)...)
}
