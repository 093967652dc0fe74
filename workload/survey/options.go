package survey

import "fmt"

// Options says how a survey is taken. The zero value is ready.
type Options struct {
	// BlockSize is how many tokens a block of the prefix cache has, of which
	// Reuse speaks. 0: 16.
	BlockSize int32

	// Watch is called now and then with the number of requests so far. An
	// error of it ends the survey. Nil: not called.
	Watch func(requests int64) error
}

// defaultBlockSize is the block size of vLLM.
const defaultBlockSize = 16

// between is how many requests there are between two calls of Watch.
const between = 1 << 12

func (o *Options) check() error {
	if o.BlockSize < 0 {
		return fmt.Errorf("block-size-in-tokens: %d: want at least 1, 0 for %d", o.BlockSize, defaultBlockSize)
	}
	if o.BlockSize == 0 {
		o.BlockSize = defaultBlockSize
	}
	return nil
}
