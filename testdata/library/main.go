// Command ownblis is blis with a routing policy, a scorer and a signal of its own.
// With the argument library it runs a cluster by calls instead.
package main

import (
	"context"
	"fmt"
	"os"

	"blis/actors"
	"blis/bundle"
	"blis/cli"
)

func main() {
	if len(os.Args) < 2 || os.Args[1] != "library" {
		cli.Main()
		return
	}
	b, err := bundle.Parse("own.yaml", []byte("routing: {type: stride, params: {step: 2}}"))
	if err != nil {
		panic(err)
	}
	cfg := actors.DefaultConfig()
	cfg.NumRequests, cfg.Policies = 50, b
	if _, err := actors.Run(context.Background(), cfg); err != nil {
		panic(err)
	}
	fmt.Println("ran")
}
