package spec

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"blis/vtime"
	"blis/workload"
	"blis/yamldoc"
)

// Spec is a specification that has been read.
type Spec struct {
	name  string   // of its file, for errors
	dir   string   // the folder that paths are relative to
	named []string // paths, as they are written

	seed     given[int64]
	rate     given[float64] // aggregate_rate
	share    given[float64] // utilization
	horizon  given[vtime.Duration]
	requests given[int64]
	profile  *profile

	clients, cohorts []client
	tenants          []tenant
	correlations     correlations
	perf             *inferencePerf
	servegen         *servegenData

	targets targets
	notes   noteList
}

// reader turns a document into a specification.
type reader struct {
	*faults
	spec *Spec
	sums sums // of lengths of multimodal prompts
}

// limits of a file. The parser takes about 100 bytes of memory for each byte.
var limits = yamldoc.Options{Bytes: 32 << 20, Depth: 24, Name: 128, Values: 1 << 23}

// document reads YAML text of one mapping, nil when it is empty.
func document(f *faults, text []byte) *yamldoc.Node {
	root, err := yamldoc.Read(f.file, text, limits)
	if err != nil {
		errors.As(err, &f.first)
		return nil
	}
	if root != nil && root.Kind != yamldoc.Mapping && root.Kind != yamldoc.Null {
		f.fail(place{Line: root.Line}, "%s is not allowed, want fields like aggregate_rate: 10", root.Describe())
	}
	return root
}

func (r *reader) note(at place, format string, args ...any) { r.spec.note(at, format, args...) }

func (s *Spec) note(at place, format string, args ...any) { s.notes.add(s.name, at, format, args...) }

var fields = []string{
	"scenario", "version", "seed", "category", "aggregate_rate", "utilization", "horizon", "num_requests", "goodput_slo_targets",
	"clients", "cohorts", "tenants", "load_profile", "correlations", "inference_perf", "servegen_data",
}

// Parse reads a specification, which is called name in errors. The format is
// strict: what is unknown, of another type, out of range or given twice is an
// *Error with its line. Paths in it are relative to the folder of name. It
// reads no file.
func Parse(name string, text []byte) (*Spec, error) {
	f := &faults{file: name}
	root := document(f, text)
	s := &Spec{name: name, dir: filepath.Dir(name)}
	if root = withScenario(f, root); f.ok() {
		(&reader{faults: f, spec: s, sums: sums{faults: f}}).read(root)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	s.named = f.named
	return s, nil
}

// ofBundles are fields of a policy bundle, which is a file like a specification.
var ofBundles = []string{"admission", "priority", "routing", "scheduler", "autoscale", "autoscaler", "observability"}

// refuseBundle says that a file is a bundle and no specification, in place of
// faults about its fields.
func (r *reader) refuseBundle(root *yamldoc.Node) {
	if root == nil || slices.ContainsFunc(root.Members, func(m yamldoc.Member) bool { return slices.Contains(fields, m.Name) }) {
		return
	}
	for _, m := range root.Members {
		if slices.Contains(ofBundles, m.Name) {
			r.fail(place{Line: m.Line, Field: m.Name}, "a field of a policy bundle, want a specification of a workload here; a bundle is given with --policy-config")
			return
		}
	}
}

func (r *reader) read(root *yamldoc.Node) {
	s := r.spec
	if r.refuseBundle(root); !r.ok() {
		return
	}
	o := r.object(root, place{}, fields)
	r.version(&o)
	s.seed = o.whole("seed", math.MinInt64, math.MaxInt64, "a whole number")
	o.choice("category", "language", "multimodal", "reasoning") // a label: nothing depends on it
	s.rate = o.number("aggregate_rate", 0, maxRate, "requests per second from 0 to 1e9")
	s.share = o.number("utilization", positive, 1000, "a share of the cluster's capacity above 0, like 0.8")
	if s.share.set && s.rate.value > 0 {
		r.fail(s.share.place, "%v: given beside aggregate_rate, want one of them", s.share.value)
	}
	s.horizon = o.longDuration("horizon")
	s.requests = o.whole("num_requests", 0, math.MaxInt64, "requests from 0 (no limit)")
	s.profile = o.profile("load_profile")
	r.tenants(&o)
	r.correlations(&o)
	r.goodput(&o)
	r.clients(&o)
	r.cohorts(&o)
	r.inferencePerf(&o)
	r.servegenData(&o)
	if !r.ok() {
		return
	}
	r.checkSources(&o)
	s.checkTenants(r.faults)
	s.fillTargets()
	s.fillPrefixLengths()
}

func (r *reader) version(o *object) {
	g := o.text("version", `"1" or "2"`)
	switch g.value {
	case "", "1", "1.0", "2", "2.0": // what differed between them is read in both
	default:
		r.fail(g.place, `%q: want "1" or "2"`, yamldoc.Clip(g.value))
	}
}

// checkSources holds a specification to one kind of source.
func (r *reader) checkSources(o *object) {
	var given []string
	for _, name := range []string{"clients", "inference_perf", "servegen_data"} {
		if v, at := o.get(name); v != nil && !(v.Kind == yamldoc.List && len(v.Items) == 0) {
			if given = append(given, name); len(given) > 1 {
				r.fail(at, "given beside %s, want one of them", given[0])
			}
		}
	}
	cohorts, at := o.get("cohorts")
	switch {
	case len(given) == 0 && len(r.spec.cohorts) == 0:
		r.fail(place{Line: o.Line}, "nothing sends requests, want clients, cohorts, inference_perf or servegen_data")
	case cohorts != nil && len(given) == 1 && given[0] != "clients":
		r.fail(at, "given beside %s, want one of them", given[0])
	case len(given) == 1 && given[0] != "clients" && len(r.spec.tenants) > 0:
		_, at := o.get("tenants")
		r.fail(at, "given beside %s, want clients", given[0])
	}
}

// Seed is the seed of the specification, and whether it gives one.
func (s *Spec) Seed() (seed uint64, given bool) { return uint64(s.seed.value), s.seed.set }

// Name is the name of the file.
func (s *Spec) Name() string { return s.name }

func itoa(i int) string { return strconv.Itoa(i) }

// end is the horizon: vtime.Time, 0 for none.
func (s *Spec) end() vtime.Time { return min(vtime.Time(s.horizon.value), workload.Latest) }
