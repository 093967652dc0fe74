package setup

import (
	"fmt"
	"strings"

	"blis/input"
	"blis/latency"
)

// resolveLatency makes the latency model and decides on async scheduling:
// coefficients fitted to servers with it hold for servers with it. It needs the
// limits of the engine.
func (p *resolver) resolveLatency() error {
	c := &p.Config
	var err error
	switch {
	case c.Custom.Latency != nil:
		p.server.Latency = c.Custom.Latency
		p.Summary.setLatency("custom", "", "custom")
	case len(c.AlphaCoeffs) == len(latency.AlphaVector{}):
		err = p.useVectors()
	case len(c.AlphaCoeffs) > 0:
		p.server.Latency = given(c)
		p.Summary.setLatency("blackbox", onCommandLine, "blackbox with given coefficients α %s β %s (error: the giver's)", numbers(c.AlphaCoeffs), numbers(c.BetaCoeffs))
	case c.LatencyModel == "blackbox":
		err = p.useBlackbox()
	case c.LatencyModel == "roofline":
		err = p.useRoofline("")
	case c.Coefficients != "":
		var set *latency.PhysicsSet
		if set, err = openCoefficients(c.Coefficients, func(path string, limit int64) ([]byte, error) { return readFile(c, path, limit) }); err == nil {
			err = p.usePhysics(set, "")
		}
	default:
		err = p.choose()
	}
	if c.AsyncScheduling == nil { // no set, or no latency model
		c.AsyncScheduling = new((*latency.PhysicsSet)(nil).AsyncByDefault())
	}
	p.resolveAccuracy()
	noteOwnTokens(p)
	if _, averages := p.server.Latency.(latency.Averager); !averages && c.Custom.Latency == nil {
		p.noteIfSet([]string{"preemption-ema-gamma"}, "only physics reads the average of preemptions")
	}
	return err
}

// resolveAccuracy notes what is known of the error of the latency model. It needs the
// maximum length of a request and whether batches are formed one step ahead.
func (p *resolver) resolveAccuracy() {
	if p.record == nil || p.brief {
		return
	}
	p.Summary.Accuracy = p.record.Accuracy(&p.server.Deployment, limits(&p.Config), *p.Config.AsyncScheduling, int64(p.Summary.MaxModelLen))
}

// onCommandLine names coefficients that stand on the command line.
const onCommandLine = "given"

// setLatency notes which latency model and coefficients a run has, and both in words.
func (s *Summary) setLatency(model, set, format string, args ...any) {
	s.LatencyModel, s.CoefficientSet, s.Latency = model, set, fmt.Sprintf(format, args...)
}

// useVectors takes coefficients of physics that the user gave as lists.
func (p *resolver) useVectors() error {
	c := &p.Config
	f, err := latency.NewFeatures(&p.server.Deployment, limits(&p.Config))
	if err != nil {
		return err
	}
	var beta latency.BetaVector // 16 are those of version 1
	copy(beta[:], c.BetaCoeffs)
	m, err := latency.NewPhysics(f, latency.AlphaVector(c.AlphaCoeffs), beta)
	if err != nil {
		return err
	}
	p.server.Latency = m
	p.Summary.setLatency("physics", onCommandLine, "physics with given coefficients α %s β %s (error: the giver's)", numbers(c.AlphaCoeffs), numbers(c.BetaCoeffs))
	return nil
}

func (p *resolver) useBlackbox() error {
	fit, err := latency.FindFit(p.Config.Model, p.gpu.Name, p.Config.TP)
	if err != nil {
		return err
	}
	p.server.Latency = fit.Blackbox
	p.Summary.setLatency("blackbox", fmt.Sprintf("%s on %s, TP %d", fit.Model, fit.GPU, fit.TP), "blackbox %s", fit.String())
	if p.server.Model.Reshaped {
		p.note("blackbox coefficients are of a server that was measured: quantization and kv-cache-dtype change the KV cache, not the time of a step")
	}
	return nil
}

func (p *resolver) useRoofline(next string) error {
	m, err := latency.NewRoofline(&p.server.Deployment, latency.DefaultRoofline(&p.gpu))
	if err != nil {
		return err
	}
	p.server.Latency, p.record = m, latency.RooflineRecord(&p.server.Deployment)
	p.Summary.setLatency("roofline", "", "roofline%s", next)
	return nil
}

// usePhysics takes a set of coefficients.
func (p *resolver) usePhysics(set *latency.PhysicsSet, next string) error {
	f, err := latency.NewFeatures(&p.server.Deployment, limits(&p.Config))
	if err != nil {
		return err
	}
	m, err := set.Model(f)
	if err != nil {
		return err
	}
	p.server.Latency, p.server.Fitted.Set, p.record = m, set, set
	c := &p.Config
	if c.AsyncScheduling == nil {
		c.AsyncScheduling = new(set.AsyncByDefault())
	}
	p.Summary.setLatency("physics", set.Name, "physics %s (%s)%s", set.Name, set.TrainedOn.Engine, next)
	return nil
}

// choose takes the model with the lowest expected error, of all or of those that the
// user allows.
func (p *resolver) choose() error {
	best, next := latency.Choose(&p.server.Deployment, limits(&p.Config))
	if p.Config.LatencyModel == "physics" && best.Set == nil {
		if next == nil {
			var names []string
			for _, s := range latency.PhysicsSets() {
				names = append(names, s.Name)
			}
			return inputErrorf("--latency-model physics: no shipped coefficients cover %s: give --coefficients, a file that blis train wrote or, at your own risk, one of %s", p.server.String(), strings.Join(names, ", "))
		}
		roofline := best
		best, next = *next, &roofline
	}
	p.noteNearMisses(best)
	second := ""
	if next != nil {
		second = "; runner-up " + next.Name() + ", error not known"
		if next.Stated != nil {
			metric, d := next.Stated.Ranked()
			second = fmt.Sprintf("; runner-up %s, %s %.1f %%", next.Name(), metric, d.Expected)
		}
	}
	if best.Set == nil {
		return p.useRoofline(second)
	}
	return p.usePhysics(best.Set, second)
}

// noteNearMisses notes settings of which another value would choose another latency
// model or other coefficients: users vary one setting in a loop.
func (p *resolver) noteNearMisses(best latency.Choice) {
	if p.Config.LatencyModel != "auto" || p.brief {
		return
	}
	for _, m := range latency.NearMisses(&p.server.Deployment, limits(&p.Config), best) {
		verb := "covers"
		if len(m.Sets) > 1 {
			verb = "cover"
		}
		sets, remedy := strings.Join(m.Sets, ", "), "--latency-model roofline"
		if best.Set != nil {
			remedy = "--coefficients " + best.Set.Name
		}
		why := fmt.Sprintf(": physics %s %s all of this run but %s", sets, verb, m.Value)
		if m.At != "" {
			why = fmt.Sprintf(" at %s and physics %s at %s, where its expected error is the lowest", m.Value, sets, m.At)
		}
		p.note("auto takes %s%s. Do not compare it with runs that get physics %s: give all of them %s", best.Name(), why, sets, remedy)
	}
}

// OpenCoefficients reads the set of --coefficients: from a file, or the shipped set
// of that name. Its errors are an InputError.
func OpenCoefficients(name string) (*latency.PhysicsSet, error) {
	return openCoefficients(name, input.ReadFile)
}

func openCoefficients(name string, read readFunc) (*latency.PhysicsSet, error) {
	text, err := read(name, input.Settings)
	if err == nil {
		set, err := latency.ParsePhysicsSet(text, name)
		if err != nil && strings.Contains(string(text), "alpha_coeffs") {
			return nil, inputErrorf("--coefficients: %s does not say what its coefficients were fitted to (schema %s): give vectors alone as --alpha-coeffs and --beta-coeffs, 3 and 3 numbers of blackbox or 11 and 16 of physics", name, latency.PhysicsSchema)
		}
		if err != nil {
			return nil, &InputError{err.Error()}
		}
		return set, nil
	}
	set, unknown := latency.FindPhysicsSet(name)
	switch {
	case unknown == nil:
		return set, nil
	case strings.ContainsAny(name, "./"): // meant as a file
		return nil, fileError("coefficients", err)
	}
	return nil, inputErrorf("--coefficients: %v", unknown)
}

// limits returns the settings of the engine that features refer to.
func limits(c *Config) latency.EngineLimits {
	return latency.EngineLimits{
		MaxBatchedTokens: int64(c.MaxNumBatchedTokens), MaxSeqs: int64(c.MaxNumSeqs), BlockSize: int64(c.BlockSizeInTokens),
		GPUBlocks: c.TotalKVBlocks, CPUBlocks: cpuTierBlocks(c), ChunkedPrefill: c.EnableChunkedPrefill,
	}
}
