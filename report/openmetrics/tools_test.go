package openmetrics

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"blis/actors"
	"blis/vtime"
)

// tool is the path of a program; the test is skipped without it, unless BLIS_TOOLS says that it must be there.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("BLIS_TOOLS") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return path
}

// The parser of Prometheus's Python client takes the samples of each time. (It drops samples of histograms with
// several times as if they were there twice.)
func TestPythonClientParses(t *testing.T) {
	python := tool(t, "/usr/bin/python3")
	if out, err := exec.Command(python, "-c", "import prometheus_client").CombinedOutput(); err != nil {
		if os.Getenv("BLIS_TOOLS") != "" {
			t.Fatalf("%s", out)
		}
		t.Skip("no prometheus_client")
	}
	cfg := configs()["prefill and decode"]
	_, text := written(t, cfg, Options{Epoch: testEpoch, Step: vtime.Second})
	scrapes, comments := map[string]*strings.Builder{}, []string{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			comments = append(comments, line)
			continue
		}
		at := line[strings.LastIndexByte(line, ' ')+1:]
		if scrapes[at] == nil {
			scrapes[at] = &strings.Builder{}
		}
	}
	for line := range strings.Lines(text) {
		for at, b := range scrapes { // any order: each by itself
			if strings.HasPrefix(line, "#") || strings.HasSuffix(line, " "+at) {
				b.WriteString(line)
			}
		}
	}
	if len(scrapes) < 3 || len(comments) < 20 {
		t.Fatalf("%d times, %d comments", len(scrapes), len(comments))
	}
	for at, b := range scrapes { // any order: each by itself
		parse := exec.Command(python, "-c", "import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\nprint(sum(len(f.samples) for f in parse(sys.stdin.read())))")
		parse.Stdin = strings.NewReader(b.String())
		out, err := parse.CombinedOutput()
		if samples := strings.Count(b.String(), "\n") - len(comments); err != nil || strings.TrimSpace(string(out)) != strconv.Itoa(samples) {
			t.Errorf("at %s: %v: %s, want %d samples", strings.TrimSpace(at), err, out, samples)
		}
	}
}

// promtool makes blocks of a file, and a Prometheus that has them answers a query for the p99 TTFT with the bucket
// that the report's is in.
func TestPrometheusAnswersAsTheReport(t *testing.T) {
	promtool, server := tool(t, "promtool"), tool(t, "prometheus")
	cfg := actors.DefaultConfig()
	cfg.NumRequests = 8000
	r, text := written(t, cfg, Options{Epoch: testEpoch, Step: 15 * vtime.Second})
	dir := t.TempDir()
	file, blocks := filepath.Join(dir, "metrics.txt"), filepath.Join(dir, "data")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(promtool, "tsdb", "create-blocks-from", "openmetrics", file, blocks).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	empty := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := exec.Command(server, "--config.file="+empty, "--storage.tsdb.path="+blocks, "--storage.tsdb.retention.time=100y", "--web.listen-address="+address, "--log.level=error")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		p.Process.Kill()
		p.Wait()
	}()
	at := testEpoch.Add(time.Duration(r.End)*time.Microsecond + time.Second)
	got := query(t, address, `histogram_quantile(0.99, sum by (le) (vllm:time_to_first_token_seconds_bucket))`, at)
	low, high := read(t, text).quantileBounds("vllm:time_to_first_token_seconds", 0.99)
	if p99 := r.Report.Overall.TTFT.P99 / 1e6; got < low || got > high || p99 < low || p99 > high {
		t.Errorf("p99 TTFT by query %g s, of the report %g s: want both from %g to %g s", got, p99, low, high)
	}
	if got, want := query(t, address, `sum(vllm:generation_tokens_total)`, at), float64(r.Report.Overall.OutputTokens); got != want {
		t.Errorf("%g generated tokens, want %g", got, want)
	}
}

// query asks a Prometheus for one number; it may still be starting.
func query(t *testing.T, address, what string, at time.Time) float64 {
	t.Helper()
	link := fmt.Sprintf("http://%s/api/v1/query?query=%s&time=%d", address, url.QueryEscape(what), at.Unix())
	var last string
	for range 300 {
		response, err := http.Get(link)
		if err == nil {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			var answer struct {
				Data struct{ Result []struct{ Value [2]any } }
			}
			if last = string(body); json.Unmarshal(body, &answer) == nil && len(answer.Data.Result) == 1 {
				x, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
		} else {
			last = err.Error()
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: %s", what, last)
	return 0
}
