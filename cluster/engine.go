package cluster

import (
	"fmt"
	"os"
	"runtime"
)

// Engine identifies what computes results. Workers take points only of their own.
type Engine struct {
	Semantics int    `json:"semantics"`  // version of what a run does
	KeyFormat int    `json:"key_format"` // version of what keys are made of
	Build     string `json:"build"`      // commit or module version; of a build without one the hash of the binary
}

// String names the engine in one line.
func (e Engine) String() string {
	return fmt.Sprintf("build %s, semantics version %d, key format %d", e.Build, e.Semantics, e.KeyFormat)
}

// host is where results come from.
type host struct {
	Worker string `json:"worker"` // of a worker, random
	Host   string `json:"host"`
	Build  string `json:"build"`
	Arch   string `json:"arch"`
	Go     string `json:"go"`
}

// thisHost describes the process.
func thisHost(e Engine) host {
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	return host{Worker: randomName(), Host: name, Build: e.Build, Arch: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
}

// String is the host in words.
func (h host) String() string {
	if h.Host == "" {
		return "an earlier run of this sweep"
	}
	return fmt.Sprintf("%s (build %s, %s, %s)", h.Host, h.Build, h.Arch, h.Go)
}
