package latency

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Memory holds the settings of an engine from which its number of KV blocks follows.
type Memory struct {
	Utilization float64 // share of the GPU's memory, as vLLM's gpu-memory-utilization
	Activations int64   // bytes per GPU that are neither weights nor KV cache
	BlockSize   int64   // tokens per KV block
}

// DefaultMemory returns vLLM's defaults, 0.9 of the memory and blocks of 16 tokens,
// and 1.0 GB per GPU for activations. With it KVBlocks is within 1 % of measured
// runs.
func DefaultMemory() Memory {
	return Memory{Utilization: 0.9, Activations: 1e9, BlockSize: 16}
}

func (m *Memory) check(p *problems) {
	p.share("gpu-memory-utilization", m.Utilization)
	p.between("activation-memory", m.Activations, 0, 1<<50)
	p.between("block-size", m.BlockSize, 1, 1<<20)
}

// DoesNotFit is the error for a model whose weights leave no room for a single
// KV block. The command exits with 3 for it.
type DoesNotFit struct {
	Model     string
	GPU       string
	TP        int
	Needed    int64 // bytes on all GPUs: weights, activations, one KV block
	Available int64 // bytes that the engine may use on all GPUs
	Smallest  *int  // TP at which it fits, 0: at none; nil: not computed
}

// Error names model, GPU and TP, the bytes that are needed and available, and the
// smallest TP at which the model fits, if it is known.
func (e *DoesNotFit) Error() string {
	text := fmt.Sprintf("%s does not fit on %s at TP %d: it needs %.2f GiB for weights, activations and one KV block, there are %.2f GiB",
		e.Model, e.GPU, e.TP, float64(e.Needed)/(1<<30), float64(e.Available)/(1<<30))
	switch {
	case e.Smallest == nil:
	case *e.Smallest == 0:
		text += "; no number of these GPUs would do"
	default:
		text += fmt.Sprintf("; %d of these GPUs would do (--tp %d)", *e.Smallest, *e.Smallest)
	}
	return text
}

// KVBlocks is the number of KV blocks of one instance:
//
//	⌊(memory·utilisation·TP − weights − TP·activations) / (cached bytes per token · block size)⌋
//
// with the memory that the driver reports, the weights that the GPUs of the instance
// hold, and CachedBytesPerToken. The error is a *DoesNotFit if this is
// below 1; other errors name every impossible field.
func (d *Deployment) KVBlocks(m Memory) (int64, error) {
	n, err := d.blocks(m)
	var fit *DoesNotFit
	if errors.As(err, &fit) {
		if smallest, err := d.SmallestTP(m); err == nil {
			fit.Smallest = &smallest
		}
	}
	return n, err
}

// blocks is KVBlocks without DoesNotFit.Smallest.
func (d *Deployment) blocks(m Memory) (int64, error) {
	var p problems
	d.check(&p)
	m.check(&p)
	if err := p.err(d.String()); err != nil {
		return 0, err
	}
	available := math.Floor(float64(d.GPU.Memory) * m.Utilization * float64(d.TP))
	occupied := d.residentWeightBytes() + int64(d.TP)*m.Activations
	block := d.CachedBytesPerToken(m.BlockSize) * m.BlockSize
	free := int64(available) - occupied
	if free < block {
		return 0, &DoesNotFit{Model: d.Model.Name, GPU: d.GPU.Name, TP: d.TP, Needed: occupied + block, Available: int64(available)}
	}
	return free / block, nil
}

// windowReference is the length of a request, in tokens, for which the KV cache of
// layers with a sliding window is counted.
const windowReference = 4096

// CachedBytesPerToken returns the bytes that a token of a request takes in the KV
// caches of all GPUs together, for blocks of blockSize tokens. It is KVBytesPerToken
// but for layers with a sliding window: they keep a window and a block of a request,
// spread here over windowReference tokens. A shorter request needs more per token
// than that, a longer one less.
func (d *Deployment) CachedBytesPerToken(blockSize int64) int64 {
	s, all := d.Model, d.KVBytesPerToken()
	if s.WindowLayers == 0 {
		return all
	}
	layer := all / s.Layers // KVBytesPerToken is a multiple of the layers
	kept := float64(min(s.Window+blockSize, windowReference)) / windowReference
	return layer*(s.Layers-s.WindowLayers) + int64(math.Ceil(float64(float64(layer*s.WindowLayers)*kept)))
}

// SmallestTP returns the smallest number of GPUs on which the model fits, 0 if more
// than 1,024 would be needed. Errors are those of KVBlocks, except *DoesNotFit.
func (d *Deployment) SmallestTP(m Memory) (int, error) {
	split := *d
	for split.TP = 1; split.TP <= maxTP; split.TP++ {
		if split.headsProblem() != "" {
			continue
		}
		_, err := split.blocks(m)
		var fit *DoesNotFit
		switch {
		case err == nil:
			return split.TP, nil
		case !errors.As(err, &fit):
			return 0, err
		}
	}
	return 0, nil
}

// Bytes is an amount of memory, 0 or more. Flags and files read and print it
// as 1GB (powers of ten), 8GiB (of two) or a number of bytes.
type Bytes int64

// byteUnits from the largest to the smallest.
var byteUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"kB", 1e3}, {"B", 1}}

// parseBytes reads "1GB", "1.5GiB", "800 MiB" or a bare number of bytes; case
// does not count. It refuses what is negative, no finite number, or above 1 EiB.
func parseBytes(s string) (Bytes, error) {
	number, scale := strings.ToLower(strings.TrimSpace(s)), int64(1)
	for _, unit := range byteUnits {
		if rest, ok := strings.CutSuffix(number, strings.ToLower(unit.name)); ok {
			number, scale = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	v = math.Round(v * float64(scale)) // 1.1GB is 1100000000 however it is stored
	if err != nil || !(v >= 0 && v <= 1<<60) {
		return 0, fmt.Errorf("%q is not an amount of memory: want 1GB, 1.5GiB, 800MiB or a number of bytes, not negative", s)
	}
	return Bytes(v), nil
}

// String is the amount in the largest unit that makes it a whole number.
func (b Bytes) String() string {
	for _, unit := range byteUnits {
		if b != 0 && int64(b)%unit.bytes == 0 && unit.bytes > 1 {
			return strconv.FormatInt(int64(b)/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10)
}

// MarshalText prints the amount as UnmarshalText reads it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads "1GB", "1.5GiB", "800 MiB" or a bare number of bytes; case
// does not count. It refuses negative numbers and amounts above 1 EiB.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := parseBytes(string(text))
	if err == nil {
		*b = v
	}
	return err
}
