package trace

// Below is a Consumer that gives another one, from the records of a run at Detailed, those that the
// run would have at the level.
func Below(level Level, to Consumer) Consumer {
	switch level {
	case None:
		panic("trace: a consumer of no records")
	case Detailed:
		return to
	}
	return &below{level: level, to: to}
}

// below keeps copies of records that it changes.
type below struct {
	level   Level
	to      Consumer
	header  Header
	routing Routing
}

// Consume implements Consumer.
func (b *below) Consume(r Record) error {
	switch x := r.(type) {
	case *Header:
		b.header = *x
		b.header.Level = b.level.String()
		r = &b.header
	case *Routing:
		b.routing = *x
		b.routing.Snapshots, b.routing.Prefix, b.routing.State = nil, nil, nil
		r = &b.routing
	case *Batch, *Preemption, *Transfer, *Anomaly:
		return nil
	case *Disaggregation:
		if x.Event == Expired {
			return nil
		}
	}
	return b.to.Consume(r)
}

// Expired is the Event of a Disaggregation about KV that was not pulled in time.
const Expired = "expired"
