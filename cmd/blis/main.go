// Command blis simulates clusters of LLM inference servers in virtual time; see
// package cli.
package main

import "blis/cli"

func main() { cli.Main() }
