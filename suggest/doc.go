// Package suggest finds the known name that a mistyped one probably meant, for
// every "unknown …" error of the command line, the policies, the models and
// the GPUs.
package suggest
