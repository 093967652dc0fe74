package latency

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The public simulator describes GPUs in JSON, a name with an object each. The
// names of its fields have changed over time; all that are known are read:
//
//	{"H100": {"TFlopsPeak": 989.5, "BwPeakTBs": 3.35, "MemoryGiB": 80}}
//	{"H100": {"compute_tflops_fp16": 989, "memory_bandwidth_gb_s": 3350, "memory_gb": 80, "sm_count": 132}}
//
// Fields that an entry leaves out have the values of the built-in GPU of its name.

// jsonField is a field of such an entry.
type jsonField struct {
	names []string // lower case
	unit  float64  // of the file's figure
	into  func(*Hardware) *float64
}

var jsonFields = []jsonField{
	{[]string{"tflopspeak", "tflopseff", "compute_tflops_fp16", "compute_tflops_bf16"}, 1e12, func(g *Hardware) *float64 { return &g.BF16 }},
	{[]string{"tflopsfp8", "compute_tflops_fp8"}, 1e12, func(g *Hardware) *float64 { return &g.FP8 }},
	{[]string{"tflopsnvfp4"}, 1e12, func(g *Hardware) *float64 { return &g.FP4 }},
	{[]string{"bwpeaktbs", "bwefftbs"}, 1e12, func(g *Hardware) *float64 { return &g.Bandwidth }},
	{[]string{"memory_bandwidth_gb_s"}, 1e9, func(g *Hardware) *float64 { return &g.Bandwidth }},
	{[]string{"intranodebwgbps"}, 1e9, func(g *Hardware) *float64 { return &g.Link }},
	{[]string{"pcie_bandwidth_gb_s"}, 1e9, func(g *Hardware) *float64 { return &g.PCIe }},
	{[]string{"pcie_efficiency"}, 1, func(g *Hardware) *float64 { return &g.PCIeEfficiency }},
}

// jsonMemory are the names of the memory, in GiB as it is sold.
var jsonMemory = []string{"memorygib", "memory_gb"}

// jsonUnused are figures that nothing here reads: factors of the public
// simulator's own latency models, and sizes that no feature has.
var jsonUnused = strings.Fields(`sm_count smcount internodebwgbps bweffconstant bwefficiencyfactor toverheadmicros perlayeroverhead mfuprefill mfudecode
	allreducelatency tpscalingexponent mfuprefillmultiplier mfudecodemultiplier prefillbwfactor decodebwfactor vectorpeakfraction prefilloverheadmicros
	mixedprefilloverheadmicros`)

// isJSONHardware reports whether a file has GPUs as the public simulator writes
// them: an object without gpus.
func isJSONHardware(data []byte) bool {
	var top map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n\ufeff"), []byte("{")) {
		return false
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &top); err != nil {
		return false
	}
	_, ours := top["gpus"]
	return !ours && len(top) > 0
}

// parseJSONHardware reads such a file, with the errors of ParseHardware.
func parseJSONHardware(data []byte, file string) ([]Hardware, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := json.NewDecoder(bytes.NewReader(data))
	line := func() int { return 1 + bytes.Count(data[:d.InputOffset()], []byte("\n")) }
	if _, err := d.Token(); err != nil { // the brace
		return nil, locate(file, 1, firstLine(err.Error()))
	}
	var list []Hardware
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, locate(file, line(), firstLine(err.Error()))
		}
		name, at := key.(string), line()
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, locate(file, at, firstLine(err.Error()))
		}
		g, err := jsonHardware(name, raw)
		if err == nil && slices.ContainsFunc(list, func(o Hardware) bool { return o.is(name) }) {
			err = errors.New("is there twice")
		}
		if err != nil {
			return nil, locate(file, at, fmt.Sprintf("GPU %s: %v", name, firstLine(err.Error())))
		}
		list = append(list, g)
	}
	return list, nil
}

// jsonHardware is one GPU. Errors name a field.
func jsonHardware(name string, raw json.RawMessage) (Hardware, error) {
	if strings.TrimSpace(name) == "" {
		return Hardware{}, errors.New("has no name")
	}
	fields, err := jsonNumbers(raw)
	if err != nil {
		return Hardware{}, err
	}
	known, err := FindHardware(name)
	builtIn := err == nil
	g := Hardware{Name: name, AllReduceLatency: [3]float64{5, 6, 8}, Source: "as the public simulator describes it"}
	if builtIn {
		g.FP8, g.FP4, g.Memory, g.Link, g.PCIe, g.AllReduceLatency = known.FP8, known.FP4, known.Memory, known.Link, known.PCIe, known.AllReduceLatency
		g.BF16, g.Bandwidth, g.PCIeEfficiency = known.BF16, known.Bandwidth, known.PCIeEfficiency
		g.PCIeAllReduceEfficiency, g.ComputeEfficiency, g.MemoryEfficiency = known.PCIeAllReduceEfficiency, known.ComputeEfficiency, known.MemoryEfficiency
	}
	if g.PCIe == 0 {
		g.PCIe = 64e9 // generation 5, which all but the oldest have
	}
	said := map[*float64]string{}
	for _, f := range fields {
		name := strings.ToLower(f.name)
		i := slices.IndexFunc(jsonFields, func(j jsonField) bool { return slices.Contains(j.names, name) })
		switch {
		case i >= 0:
			into := jsonFields[i].into(&g)
			if said[into] != "" {
				return g, fmt.Errorf("%s and %s say the same thing: want one of them", said[into], f.name)
			}
			said[into], *into = f.name, float64(f.value*jsonFields[i].unit)
		case slices.Contains(jsonMemory, name):
			// The driver reports a little less than what is sold.
			bytes := float64(f.value * (1 << 30))
			if !(bytes > 0 && bytes <= 1<<50) {
				return g, fmt.Errorf("%s is %v, want above 0 and at most 1048576", f.name, f.value)
			}
			if !builtIn || !closeTo(float64(known.Memory), bytes, 0.02) {
				g.Memory = int64(bytes)
			}
		case slices.Contains(jsonUnused, name):
			g.Unused = append(g.Unused, f.name)
		default:
			return g, fmt.Errorf("unknown field %q: want TFlopsPeak or compute_tflops_fp16, BwPeakTBs or memory_bandwidth_gb_s, memory_gb or MemoryGiB, and perhaps TFlopsFP8, IntraNodeBwGBps, pcie_bandwidth_gb_s, pcie_efficiency", f.name)
		}
	}
	var missing []string
	for _, m := range []struct {
		there bool
		names string
	}{{g.BF16 > 0 || said[&g.BF16] != "", "TFlopsPeak or compute_tflops_fp16"}, {g.Bandwidth > 0 || said[&g.Bandwidth] != "", "BwPeakTBs or memory_bandwidth_gb_s"}, {g.Memory > 0, "memory_gb or MemoryGiB"}} {
		if !m.there {
			missing = append(missing, m.names)
		}
	}
	if len(missing) > 0 {
		return g, fmt.Errorf("%s missing; there is no built-in GPU of this name that has it", strings.Join(missing, ", "))
	}
	if err := g.Validate(); err != nil {
		return g, errors.New(strings.TrimPrefix(err.Error(), "GPU "+name+": "))
	}
	return g, nil
}

// jsonNumber is a field and its value, in the order of the file.
type jsonNumber struct {
	name  string
	value float64
}

func jsonNumbers(raw json.RawMessage) ([]jsonNumber, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("want an object with numbers, such as {\"TFlopsPeak\": 989.5, \"BwPeakTBs\": 3.35, \"MemoryGiB\": 80}")
	}
	var list []jsonNumber
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := d.Token()
		if err != nil && err != io.EOF {
			return nil, err
		}
		n, ok := value.(float64)
		if !ok {
			return nil, fmt.Errorf("%v: want a number", key)
		}
		list = append(list, jsonNumber{key.(string), n})
	}
	return list, nil
}

// closeTo reports whether two figures differ by no more than a share of the first.
func closeTo(a, b, share float64) bool { return b >= float64(a*(1-share)) && b <= float64(a*(1+share)) }
