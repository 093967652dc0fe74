//go:build !linux

package bench

import (
	"os"
	"time"
)

// threadTime is not known here.
func threadTime() time.Duration { return 0 }

// peakBytes is not known here.
func peakBytes(*os.ProcessState) int64 { return 0 }

// processorModel is not known here.
func processorModel() string { return "" }
