// Package llmd writes the policies of a plan as the configuration of llm-d's endpoint
// picker, and says what of them that configuration cannot express. It knows llm-d from
// its documentation alone: docs/llm-d.md names sources and version, and
// docs/endpointpickerconfig.schema.json is the form that it writes.
//
// Where to look:
//
//	config.go      the file as it is written, YAML or JSON
//	export.go      a plan becomes a file; what stays behind is collected
//	routing.go     each routing policy and scorer, with the plugins that come nearest
//	prefix.go      who tells scorers what is cached
//	signals.go     how fresh the signals are that scorers read
//	elsewhere.go   admission, priority, scheduling and autoscaling
package llmd
