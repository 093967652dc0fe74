package actors

import (
	"blis/metrics"
	"blis/vtime"
	"blis/workload"
)

// Row is one request as Execution.Row gets it: its outcome, the names behind its
// labels, and its latencies as the client sees them, with the overheads of the
// latency model. It is valid during the call.
type Row struct {
	*metrics.Outcome

	labels         *workload.Labels
	options        *metrics.Options
	token, request vtime.Duration // overheads
}

// TenantName is the name of the request's tenant.
func (r *Row) TenantName() string { return r.labels.Tenants.Name(r.Tenant) }

// ClassName is the name of the request's SLO class.
func (r *Row) ClassName() string { return r.labels.Classes.Name(r.Class) }

// ModelName is the model that the request asked for; empty when it named none.
func (r *Row) ModelName() string { return r.labels.Models.Name(r.Model) }

// InstanceName is the name of the request's instance; empty when it never
// reached one.
func (r *Row) InstanceName() string {
	if r.Instance < 0 {
		return ""
	}
	return instanceName(int(r.Instance))
}

// TTFT is metrics.Outcome.TTFT with the run's overhead.
func (r *Row) TTFT() (vtime.Duration, bool) { return r.Outcome.TTFT(r.token) }

// TotalITL is metrics.Outcome.TotalITL with the run's overhead.
func (r *Row) TotalITL() (total vtime.Duration, samples int64) { return r.Outcome.TotalITL(r.token) }

// TPOT is metrics.Outcome.TPOT with the run's overheads.
func (r *Row) TPOT() (vtime.Duration, bool) { return r.Outcome.TPOT(r.token, r.request) }

// E2E is metrics.Outcome.E2E with the run's overheads.
func (r *Row) E2E() (vtime.Duration, bool) { return r.Outcome.E2E(r.token, r.request) }

// Measured reports whether the request counts in the report: whether it
// arrived in the measured window.
func (r *Row) Measured() bool { return r.options.InWindow(r.Arrival) }

// Attained is metrics.Options.Attained: whether the request's class has
// targets, and whether it completed within every one of them.
func (r *Row) Attained() (judged, attained bool) { return r.options.Attained(r.Outcome) }
