package actors

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blis/bundle"
	"blis/vtime"
	"blis/workload"
)

// TestClusters plays the scripts of testdata/clusters, each of which shows one
// thing that policies do, on every kind of executor. A script is a comment, the
// policies as a bundle, settings and requests, a line ----, and what happens.
// Unless it says otherwise a cluster is that of plain.
func TestClusters(t *testing.T) {
	files, err := filepath.Glob("../testdata/clusters/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			given, want, _ := strings.Cut(string(text), "----\n")
			c := readCluster(t, given)
			got := c.story(serveLabelled(t, c.config, c.labels, c.requests))
			if *update {
				wantFile(t, path, given+"----\n"+got)
				return
			}
			if got != want {
				t.Errorf("what happens:\n%swant:\n%s", got, want)
			}
		})
	}
}

// clusterScript is a script, read.
type clusterScript struct {
	config   Config
	requests []workload.Request
	labels   workload.Labels
}

func readCluster(t *testing.T, text string) *clusterScript {
	c := &clusterScript{config: plain()}
	c.labels.Tenants.Label("")
	c.labels.Models.Label("")
	policies := ""
	for _, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "#"), line == "":
		case word == "set":
			c.set(t, strings.Fields(rest))
		case word == "request":
			c.request(t, strings.Fields(rest))
		default:
			policies += line + "\n"
		}
	}
	b, err := bundle.Parse("script", []byte(policies))
	if err != nil {
		t.Fatal(err)
	}
	c.config.Policies = b
	return c
}

// set reads settings by the names of their flags: num-instances=2.
func (c *clusterScript) set(t *testing.T, words []string) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if err := c.config.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

// request reads at=0 prompt=64 output=1 shared=system:48 tenant=a class=batch.
func (c *clusterScript) request(t *testing.T, words []string) {
	number := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(words, err)
		}
		return n
	}
	r := request(0, 1, 1)
	class := workload.DefaultClass
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		switch name {
		case "at":
			r.Arrival = vtime.Time(number(value))
		case "prompt":
			r.Input = int32(number(value))
		case "output":
			r.Output = int32(number(value))
		case "shared":
			content, length, _ := strings.Cut(value, ":")
			r.Spans = []workload.Span{{Content: workload.NamedContent(content), Length: int32(number(length))}}
		case "tenant":
			r.Tenant = c.labels.Tenants.Label(value)
		case "class":
			class = value
		default:
			t.Fatalf("what is %s?", w)
		}
	}
	r.Class = c.labels.Classes.Label(class)
	c.requests = append(c.requests, r)
}

// story is what became of the requests and of the instances.
func (c *clusterScript) story(s *served) string {
	var b strings.Builder
	for i := range s.rows {
		o := &s.rows[i]
		fmt.Fprintf(&b, "request %d", i)
		if r := &c.requests[i]; r.Tenant != 0 {
			fmt.Fprintf(&b, " of %s", c.labels.Tenants.Name(r.Tenant))
		}
		fmt.Fprintf(&b, " (%s) is %s", c.labels.Classes.Name(c.requests[i].Class), strings.ReplaceAll(o.State.String(), "_", " "))
		if o.Reason != 0 {
			fmt.Fprintf(&b, " (%v)", o.Reason)
		}
		if o.Instance >= 0 {
			fmt.Fprintf(&b, " on instance %d", o.Instance)
		}
		if o.Admitted != never && o.Admitted != o.Arrival {
			fmt.Fprintf(&b, ", admitted at %d", int64(o.Admitted))
		}
		if o.Scheduled != never {
			fmt.Fprintf(&b, ", scheduled at %d", int64(o.Scheduled))
		}
		if o.Cached > 0 {
			fmt.Fprintf(&b, " with %d tokens cached", o.Cached)
		}
		if o.Expected != o.Cached {
			fmt.Fprintf(&b, " where the router expected %d", o.Expected)
		}
		if o.Redirects > 0 {
			fmt.Fprintf(&b, ", given back %d times", o.Redirects)
		}
		fmt.Fprintf(&b, ", %d tokens, finished at %d\n", o.Generated, int64(o.Finished))
	}
	if n := s.Report.Anomalies.ShadowDivergence; n != nil && *n > 0 {
		fmt.Fprintf(&b, "shadow divergence: %d\n", *n)
	}
	if sc := s.Scaling; sc != nil {
		for _, e := range sc.Events {
			fmt.Fprintf(&b, "at %d from %d to %d instances: %v\n", int64(e.At), e.From, e.To, e.Reason)
		}
		for i, r := range sc.Replicas {
			fmt.Fprintf(&b, "instance %d:%s\n", i, moments(&r))
		}
		if sc.Oscillations > 0 {
			fmt.Fprintf(&b, "%d times the other way within a minute\n", sc.Oscillations)
		}
	}
	return b.String()
}

// moments is what happened to an instance when.
func moments(r *Replica) string {
	text := ""
	for _, m := range []struct {
		what string
		at   vtime.Time
	}{{"asked for", r.Asked}, {"there", r.Billed}, {"ready", r.Ready}, {"warm", r.Warm}, {"draining", r.Draining}, {"gone", r.Gone}} {
		if m.at != never && (m.at > 0 || m.what == "ready") {
			text += fmt.Sprintf(" %s %d", m.what, int64(m.at))
		}
	}
	return text
}
