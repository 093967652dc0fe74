package engine

import (
	"testing"

	"blis/metrics"
	"blis/vtime"
)

// linkTimes is half of the bandwidth from 1,000 to 2,000, and a link that is down from 3,000 to 4,000.
type linkTimes struct{}

func (linkTimes) Share(at vtime.Time) (share float64, down vtime.Time) {
	if down = vtime.Never; at <= 3000 {
		down = 3000
	}
	switch {
	case at > 1000 && at <= 2000:
		return 0.5, down
	case at > 3000 && at <= 4000:
		return 0, down
	}
	return 1, down
}

// While its link is slow the transfers of a storage tier take longer. When it goes down what is under way fails a microsecond
// later, but no answer comes before that of an operation that moves nothing; then questions find nothing, reads bring
// nothing, and nothing is stored.
func TestLinkOfStorageTier(t *testing.T) {
	playStorageTier(t, 20, linkTimes{}, 5000, []storageStep{
		{0, StorageWrite, partsOf(1, 0, 4), StorageAnswer{0, 4, 4, 0, 110}},
		{1000, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 4, 4, 1000, 1090}},
		{1000, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 4, 4, 1090, 1220}}, // it begins later: 50 + 4 · 20
		{1500, StorageWrite, partsOf(2, 0, 1), StorageAnswer{0, 1, 5, 1500, 1570}},
		{2900, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 4, 5, 2900, 2990}},
		{2900, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 0, 5, 2990, 3001}},  // under way
		{2900, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 0, 5, 3001, 3051}},  // begins while it is down
		{2990, StorageWrite, partsOf(3, 0, 1), StorageAnswer{0, 0, 6, 2990, 3020}}, // no sooner than 30 later
		{3500, StorageAsk, partsOf(1, 0, 4), StorageAnswer{0, 0, 5, 3500, 3550}},   // what it did not store is gone
		{3990, StorageWrite, partsOf(4, 0, 1), StorageAnswer{0, 0, 6, 3990, 4020}}, // begins while it is down
		{4001, StorageWrite, partsOf(4, 0, 1), StorageAnswer{0, 0, 6, 4001, 4031}}, // it is being written
		{4100, StorageAsk, partsOf(3, 0, 1), StorageAnswer{0, 0, 5, 4100, 4150}},
		{4100, StorageAsk, partsOf(4, 0, 1), StorageAnswer{0, 0, 5, 4100, 4150}},
		{4100, StorageRead, partsOf(1, 0, 4), StorageAnswer{0, 4, 5, 4100, 4190}},
	}, func(c *metrics.KVStorage) bool {
		return c.Reads != 4 || c.ReadEntries != 16 || c.Writes != 2 || c.WrittenEntries != 5
	})
}
