package actors

import (
	"blis/policy"
	"blis/vtime"
)

// boards is where the signals of a run are told, which follows from what its
// policies observe and how fresh that is to be.
type boards struct {
	board *board[reading] // the load signals, but for those of feeds; nil: none
	feeds []*feed         // signals of other cadences, a feed for each cadence
	apart policy.Signals  // load signals that feeds carry

	// In-flight is what the router sent less what ended. When decisions wait
	// for the instances anyway, or are to learn of ends at a refresh, how many
	// have ended is read off the board: then it is counted. Otherwise notices
	// tell the router.
	counted bool
	told    policy.Signals // signals that notices tell
}

// boards lays the boards of a run out whose policies observe these signals. With
// extra the run looks at further ones, which may change nothing that policies
// see or that the router is told.
func (p *plan) boards(signals, extra policy.Signals) boards {
	cfg := &p.config
	usual := cadence(cfg.SnapshotRefreshInterval)
	var b boards
	var onBoard, atOnce policy.Signals
	for s := policy.Signals(1); s <= signals|extra; s <<= 1 {
		if (signals|extra)&s&observed == 0 {
			continue
		}
		c := p.cadence(s)
		if c == onDemand {
			b.feed(c, cfg.NumInstances).signals |= s
			b.apart |= s & loadSignals
			atOnce |= s & signals
			continue
		}
		if c == immediate {
			atOnce |= s & signals
		}
		if s&loadSignals != 0 && c == usual {
			onBoard |= s
			continue
		}
		b.apart |= s & loadSignals
		b.feed(c, cfg.NumInstances).signals |= s
	}
	b.told = signals & (policy.Active | policy.ClassLatency)
	if p.tellsBlocks(signals) {
		b.told |= policy.Prefixes
	}
	if signals&policy.InFlight != 0 {
		b.counted = cfg.InFlight == "periodic" || usual == immediate && atOnce != 0
		if !b.counted {
			b.told |= policy.InFlight
		}
	} else if extra&policy.InFlight != 0 {
		b.counted = true // so that nobody has to be told
	}
	if b.counted || onBoard != 0 {
		b.board = newBoard[reading](cfg.NumInstances, usual)
	}
	return b
}

// feed returns the feed of a cadence, a new one if there is none.
func (b *boards) feed(c cadence, instances int) *feed {
	asked := c == onDemand
	for _, f := range b.feeds {
		if f.asked == asked && (asked || f.board.cadence == c) {
			return f
		}
	}
	f := &feed{board: newBoard[detail](instances, max(c, immediate)), asked: asked, refresh: -1}
	b.feeds = append(b.feeds, f)
	return f
}

// Default cadences of the signals that change slowly and are expensive to read.
const (
	hitRateCadence       = 10 * cadence(vtime.Millisecond)
	recentLatencyCadence = 100 * cadence(vtime.Millisecond)
)

// cadence is how fresh a signal is.
func (p *plan) cadence(s policy.Signals) cadence {
	if c, ok := p.fresh[s]; ok {
		return c
	}
	usual := cadence(p.config.SnapshotRefreshInterval)
	switch {
	case usual != immediate:
		return usual
	case s == policy.HitRate:
		return hitRateCadence
	case s == policy.RecentLatency:
		return recentLatencyCadence
	}
	return immediate
}
