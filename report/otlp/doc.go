// Package otlp writes the requests of a run as the spans that vLLM sends to OpenTelemetry: OTLP-JSON, as a collector's
// file exporter writes it, an export per line. blis train and blis validate read it, and so does --trace.
package otlp
