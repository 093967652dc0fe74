package actors

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// A run that waits for a file that never comes ends with its context.
func TestFaultF6PreparationEndsWithTheContext(t *testing.T) {
	for name, set := range map[string]func(*Config){
		"trace":           func(c *Config) { c.Trace = "never.csv" },
		"specification":   func(c *Config) { c.WorkloadSpec = "never.yaml" },
		"GPUs":            func(c *Config) { c.HardwareConfig = "never.yaml" },
		"model":           func(c *Config) { c.ModelConfigFolder = "never" },
		"coefficient set": func(c *Config) { c.Coefficients = "never.yaml" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			c := DefaultConfig()
			set(&c)
			forever := make(chan struct{})
			defer close(forever)
			c.Open = func(path string) (io.ReadCloser, error) {
				if !strings.HasPrefix(path, "never") {
					t.Errorf("opens %s", path)
				}
				cancel()
				<-forever
				return nil, fs.ErrNotExist
			}
			if r, err := Run(ctx, c); r != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}
