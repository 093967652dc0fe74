package latency

// Floor is implemented by models that can bound their answers from below, in
// µs. A simulation that knows how soon an instance can act at the earliest
// looks further ahead; without Floor it assumes one tick. No answer of the
// model is ever below its floor.
type Floor interface {
	MinQueueing(input int64) float64 // minimum of Queueing, for a prompt of input tokens
	MinStep() float64                // minimum of Step, for any batch
}

// MinQueueing implements Floor: nothing but the prompt matters.
func (m Blackbox) MinQueueing(input int64) float64 { return m.Queueing(QueueInput{Input: input}) }

// MinStep implements Floor.
func (m Blackbox) MinStep() float64 { return m.Beta[0] }

// MinQueueing implements Floor.
func (r *Roofline) MinQueueing(int64) float64 { return r.frontEnd }

// MinStep implements Floor: every step reads the weights.
func (r *Roofline) MinStep() float64 { return r.weights + r.fixed }
