package kv

// Medium is where copies of KV are kept, the fastest first. Keys of one medium are
// compared with each other alone: blocks of the GPU have keys by blocks, entries of
// lower tiers keys by entries.
type Medium uint8

// Media.
const (
	GPU Medium = iota
	CPU
	Storage
	Media = 3 // number of them
)

var mediumNames = [Media]string{"gpu", "cpu", "storage"}

// String returns the name of the medium.
func (m Medium) String() string { return mediumNames[m] }
