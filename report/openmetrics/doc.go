// Package openmetrics writes what a run's instances would have shown a Prometheus that scrapes them: vLLM's
// metrics over virtual time, as an OpenMetrics text.
//
//	families.go    the metrics: names, help, buckets
//	requests.go    histograms and counters over requests
//	write.go       the text: family after family, series after series, sample after sample
//
// docs/openmetrics.md says how each metric is made, and how to load a file into Prometheus.
package openmetrics
