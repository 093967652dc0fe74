package latency

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// Blackbox is the model of two straight lines (microseconds, tokens):
//
//	step     = β₀ + β₁·prefill tokens + β₂·decode tokens
//	queueing = α₀ + α₁·L
//
// and α₂ as the overhead of each token on its way to the client. The coefficients
// are for one model on one GPU. A constant step time is the Blackbox with
// β₁ = β₂ = 0.
type Blackbox struct {
	Alpha [3]float64 // µs, µs per prompt token, µs per output token
	Beta  [3]float64 // µs, µs per prefill token, µs per decode token
}

// Validate returns one error that names every coefficient that is NaN,
// infinite or negative.
func (m Blackbox) Validate() error {
	var p problems
	for i, v := range m.Alpha {
		p.notNegative([3]string{"alpha[0]", "alpha[1]", "alpha[2]"}[i], v)
	}
	for i, v := range m.Beta {
		p.notNegative([3]string{"beta[0]", "beta[1]", "beta[2]"}[i], v)
	}
	return p.err("blackbox coefficients")
}

// Queueing is α₀ + α₁·L.
func (m Blackbox) Queueing(in QueueInput) float64 {
	return m.Alpha[0] + float64(m.Alpha[1]*float64(in.Input))
}

// Step is β₀ + β₁·prefill + β₂·decode, summed from left to right: other orders
// give other bits.
func (m Blackbox) Step(b *Batch) float64 {
	return m.Beta[0] + float64(m.Beta[1]*float64(b.PrefillTokens)) + float64(m.Beta[2]*float64(b.DecodeTokens))
}

// TokenOverhead is α₂.
func (m Blackbox) TokenOverhead() float64 { return m.Alpha[2] }

// RequestOverhead is 0.
func (m Blackbox) RequestOverhead() float64 { return 0 }

// MinQueueing implements Floor: nothing but the prompt matters.
func (m Blackbox) MinQueueing(input int64) float64 { return m.Queueing(QueueInput{Input: input}) }

// MinStep implements Floor.
func (m Blackbox) MinStep() float64 { return m.Beta[0] }

// Fit is one published set of blackbox coefficients with what is known of the
// measurement; data/blackbox.yaml names the source.
type Fit struct {
	Model  string // Hugging Face id in lower case, as published
	GPU    string
	TP     int
	Engine string   // the vLLM release that was measured
	Loss   *float64 // final value of the objective of the fit; nil: not published
	Blackbox
}

// String names model, GPU and TP, and the engine and loss of the fit.
func (f *Fit) String() string {
	loss := "not published"
	if f.Loss != nil {
		loss = fmt.Sprintf("%.1f", *f.Loss)
	}
	return fmt.Sprintf("%s on %s, TP %d (fitted to %s, fit loss %s)", f.Model, f.GPU, f.TP, f.Engine, loss)
}

//go:embed data/blackbox.yaml
var blackboxYAML []byte

// fitDocument is the part of the embedded file that holds one model's fits.
// Decoding the whole file takes several milliseconds, more than a short run, so
// only the documents that are needed are decoded.
type fitDocument struct {
	model string
	yaml  []byte
}

// fitDocuments splits the embedded file, in order of model.
var fitDocuments = sync.OnceValue(func() []fitDocument {
	var list []fitDocument
	for _, doc := range bytes.Split(blackboxYAML, []byte("\n---\n"))[1:] {
		first, _, _ := bytes.Cut(doc, []byte("\n"))
		list = append(list, fitDocument{strings.TrimPrefix(string(first), "id: "), doc})
	}
	return list
})

// fits decodes the document.
func (d *fitDocument) fits() []Fit {
	var doc struct {
		ID   string     `yaml:"id"`
		Fits []fitEntry `yaml:"fits"`
	}
	if err := decodeYAML(d.yaml, "blackbox.yaml ("+d.model+")", &doc); err != nil {
		panic("latency: embedded " + err.Error())
	}
	var list []Fit
	for _, e := range doc.Fits {
		f := Fit{Model: doc.ID, GPU: e.GPU, TP: e.TP, Engine: e.Engine, Loss: e.Loss, Blackbox: Blackbox{e.Alpha, e.Beta}}
		if err := f.Validate(); err != nil {
			panic("latency: embedded blackbox.yaml: " + f.Model + ": " + err.Error())
		}
		list = append(list, f)
	}
	return list
}

type fitEntry struct {
	GPU    string     `yaml:"gpu"`
	TP     int        `yaml:"tp"`
	Engine string     `yaml:"engine"`
	Loss   *float64   `yaml:"loss"`
	Alpha  [3]float64 `yaml:"alpha"`
	Beta   [3]float64 `yaml:"beta"`
}

// AllFits lists the published coefficient sets in order of model, GPU and TP.
func AllFits() []Fit {
	var list []Fit
	for _, d := range fitDocuments() {
		list = append(list, d.fits()...)
	}
	return list
}

// FindFit returns the published coefficients for a model, a GPU and a degree
// of tensor parallelism. Names and aliases of built-in models and GPUs are
// accepted, in upper or lower case, and Hugging Face ids without their owner. The
// error for an unknown combination lists the nearest known ones and other ways to
// get a latency model.
func FindFit(model, gpu string, tp int) (Fit, error) {
	id := strings.ToLower(model)
	if s, err := FindModel(model); err == nil {
		id = strings.ToLower(s.Name)
	}
	card := gpu
	if g, err := FindHardware(gpu); err == nil {
		card = g.Name
	}
	var sameModel, models []string
	for _, d := range fitDocuments() {
		if d.model != id && baseName(d.model) != id {
			models = append(models, d.model)
			continue
		}
		for _, f := range d.fits() {
			if strings.EqualFold(f.GPU, card) && f.TP == tp {
				return f, nil
			}
			sameModel = append(sameModel, fmt.Sprintf("%s on %s at TP %d", f.Model, f.GPU, f.TP))
		}
	}
	known := sameModel
	if len(known) == 0 {
		known = nearest(model, models, 3)
	}
	return Fit{}, &Unknown{
		Kind: "blackbox coefficients", Name: fmt.Sprintf("%s on %s at TP %d", model, gpu, tp), Nearest: known,
		Remedy: "use --latency-model roofline, which knows every model and GPU, or give --alpha-coeffs and --beta-coeffs",
	}
}

// FindFitFor is FindFit for a deployment. A model without published coefficients
// gets the coefficients of a model with the same work, such as a chat model for
// its base.
func FindFitFor(d *Deployment) (Fit, error) {
	fit, err := FindFit(d.Model.Name, d.GPU.Name, d.TP)
	if err == nil {
		return fit, nil
	}
	for _, doc := range fitDocuments() {
		if !d.Model.isSameAs(doc.model) {
			continue
		}
		for _, f := range doc.fits() {
			if d.GPU.is(f.GPU) && f.TP == d.TP {
				return f, nil
			}
		}
	}
	return Fit{}, err
}
