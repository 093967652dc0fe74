package latency

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	_ "embed"
)

// Fit is one published set of blackbox coefficients and what is known of its
// making; see data/blackbox.yaml for the origin.
type Fit struct {
	Model  string // Hugging Face id in lower case, as published
	GPU    string
	TP     int
	Engine string   // the vLLM release that was measured
	Loss   *float64 // what was left of the fit's objective; nil: not published
	Blackbox
}

// String names the key and, as every use of such a set must tell, engine and
// loss.
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
// Decoding all of them takes several milliseconds, more than a short run, so
// only what is asked for is decoded.
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
// of tensor parallelism. Case does not count; names and aliases of built-in
// models and GPUs stand for what they name, and a model without an owner for
// the id that ends in it. The error for an unknown key lists the nearest known
// ones and the other ways to get a latency model.
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
