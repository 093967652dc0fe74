package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// CalibrationSchema names the form of a Calibration as JSON.
const CalibrationSchema = "blis.calibration/v1"

// ReferenceNS is the score of the machine for which the budgets hold as they
// are written. README.md says how it was taken.
const ReferenceNS = 270.0

// Calibration tells how fast one core is at the moment at what a simulation
// does: arithmetic on data that streams through, and reads that depend on each
// other over more memory than the inner caches hold. A unit is 4 KiB hashed
// and one such read; in that proportion the score follows the time of a
// simulation best while other processes come and go.
type Calibration struct {
	Schema string `json:"schema"`
	// WallNS is the median wall time of a unit, CPUNS the median CPU time. On
	// a quiet core they are equal; with more work than cores wall is longer.
	WallNS      float64 `json:"wall_ns_per_unit"`
	CPUNS       float64 `json:"cpu_ns_per_unit"`
	BestNS      float64 `json:"best_ns_per_unit"` // wall time of the fastest round
	ReferenceNS float64 `json:"reference_ns_per_unit"`
}

// A round takes about 20 ms, as long as the shortest budget.
const (
	calibrationBytes = 16 << 20
	lineBytes        = 64
	hashBytes        = 4 << 10
	unitsPerRound    = 1 << 16
	calibrationRuns  = 11
)

// Calibrate measures, for about a third of a second, on one thread.
func Calibrate() Calibration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := newProbe(calibrationBytes)
	var wall, cpu [calibrationRuns]float64
	for i := range wall {
		began, used := time.Now(), threadTime()
		p.round(unitsPerRound)
		wall[i] = float64(time.Since(began).Nanoseconds()) / unitsPerRound
		cpu[i] = float64((threadTime() - used).Nanoseconds()) / unitsPerRound
	}
	slices.Sort(wall[:])
	slices.Sort(cpu[:])
	c := Calibration{Schema: CalibrationSchema, WallNS: median(wall[:]), CPUNS: median(cpu[:]), BestNS: wall[0], ReferenceNS: ReferenceNS}
	if c.CPUNS == 0 { // not known on this system
		c.CPUNS = c.WallNS
	}
	return c
}

// probe is the calibration's program and its memory: one cycle through all
// lines in random order, the first word of a line being the offset of the next.
type probe struct {
	memory []byte
	at     uint32
	sum    uint64
}

func newProbe(size int) *probe {
	next := make([]uint32, size/lineBytes)
	for i := range next {
		next[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := len(next) - 1; i > 0; i-- { // Sattolo's shuffle: one cycle
		j := random.IntN(i)
		next[i], next[j] = next[j], next[i]
	}
	p := &probe{memory: make([]byte, size)}
	for i, n := range next {
		binary.LittleEndian.PutUint32(p.memory[i*lineBytes:], n*lineBytes)
	}
	return p
}

// round works through a number of units. The sum keeps the compiler from
// leaving anything out, and is the same on every machine.
func (p *probe) round(units int) {
	at := p.at
	for range units {
		at = binary.LittleEndian.Uint32(p.memory[at:])
	}
	p.at = at
	p.sum += uint64(at)
	for i := range units {
		chunk := i * hashBytes & (len(p.memory) - 1)
		p.sum += xxhash.Sum64(p.memory[chunk : chunk+hashBytes])
	}
}

// WriteJSON writes the calibration as indented JSON.
func (c *Calibration) WriteJSON(w io.Writer) error { return writeJSON(w, c) }

// WriteText writes it for a person.
func (c *Calibration) WriteText(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%.1f ns wall, %.1f ns CPU per unit (4 KiB hashed, one dependent read over 16 MiB), fastest round %.1f\n"+
		"reference %.1f: budgets ×%.2f for wall time, ×%.2f for CPU time\n",
		c.WallNS, c.CPUNS, c.BestNS, c.ReferenceNS, c.WallNS/c.ReferenceNS, c.CPUNS/c.ReferenceNS)
	return err
}

func writeJSON(w io.Writer, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// median of sorted values; of an even number the mean of the middle two.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
