package policy

// loadAware is 0.5 · (1 − min(w, 128)/128) of w waiting requests: llm-d's
// load-aware-scorer with its default threshold. It rates an instance by itself, so that
// one waiting request more or less matters little where nobody waits long.
var loadAware = scorerRow{name: "load-aware", weight: "0", observes: QueueDepth,
	score: func(view *View, i int) float64 {
		free := queueThreshold - min(view.QueueDepth(i), queueThreshold)
		return float64(free) / (2 * queueThreshold)
	},
	help: "0.5 with an empty wait queue, 0 from 128 waiting requests on, linear between: not relative to other instances"}

// queueThreshold is the wait queue at which load-aware is 0, in requests.
const queueThreshold = 128
