package latency

// Floor is implemented by models that can bound their answers from below, in
// µs. A simulation that knows how soon an instance can act at the earliest
// looks further ahead; without Floor it assumes one tick. No answer of the
// model is ever below its floor.
type Floor interface {
	MinQueueing() float64 // of Queueing, for any input
	MinStep() float64     // of Step, for any batch
}

// MinQueueing implements Floor: a prompt has at least one token. Coefficients
// are not negative, and rounding keeps the order of sums.
func (m Blackbox) MinQueueing() float64 { return m.Alpha[0] + float64(m.Alpha[1]) }

// MinStep implements Floor.
func (m Blackbox) MinStep() float64 { return m.Beta[0] }

// MinQueueing implements Floor.
func (r *Roofline) MinQueueing() float64 { return r.frontEnd }

// MinStep implements Floor: every step reads the weights.
func (r *Roofline) MinStep() float64 { return r.weights + r.fixed }
