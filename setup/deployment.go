package setup

import (
	"blis/latency"
)

// Deployment is the model, GPU and TP of every instance of the configuration. It
// reads the files of the model. Its errors are an InputError.
func (c Config) Deployment() (*latency.Deployment, error) {
	p := newResolver(c)
	if err := p.resolveModel(); err != nil {
		return nil, &InputError{err.Error()}
	}
	if !validTP(c.TP) {
		return nil, inputErrorf("--tp is %d: want 1 to 1024", c.TP)
	}
	return &p.deployment.Deployment, nil
}
