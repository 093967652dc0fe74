package evaluator

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask sends a request to a server and returns its status and the object that it answers.
func ask(t *testing.T, s *Server, method, path, body string, change func(*http.Request)) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, "http://localhost:8080"+path, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var v map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s %s: %v in %s", method, path, err, w.Body)
	}
	return w.Code, v
}

const leastLoaded = `{"candidate": "routing: least-loaded"`

func TestServerEvaluates(t *testing.T) {
	s := &Server{Evaluator: smallEvaluator(t, nil)}
	status, a := ask(t, s, "POST", "/evaluate", leastLoaded+`}`, nil)
	info, _ := a["info"].(map[string]any)
	if status != 200 || a["score"] != 0.5 || info["feedback"] == "" || info["scores"] == nil {
		t.Errorf("status %d, %v: want the score of the baseline with feedback and scores", status, a)
	}
	status, a = ask(t, s, "POST", "/evaluate", leastLoaded+`, "example_id": "busy"}`, nil)
	info, _ = a["info"].(map[string]any)
	if list, _ := info["per_scenario"].([]any); status != 200 || len(list) != 1 {
		t.Errorf("status %d, %v: want one scenario", status, info)
	}
	status, a = ask(t, s, "POST", "/evaluate_examples", `{"candidate": {"policy": "routing: round-robin"}, "example_ids": ["busy", "chat"]}`, nil)
	scores, _ := a["scores"].(map[string]any)
	if status != 200 || len(scores) != 2 || a["average_score"] != (scores["busy"].(float64)+scores["chat"].(float64))/2 || a["num_evaluated"] != 2.0 {
		t.Errorf("status %d, %v: want the mean of two scenarios", status, a)
	}
	status, a = ask(t, s, "GET", "/status", "", nil)
	if b, _ := a["budget"].(map[string]any); status != 200 || b["used"] != 4.0 || b["exhausted"] != false || !(a["best_score"].(float64) > 0.5) {
		t.Errorf("status %d, %v: want 4 evaluations, and the score of round-robin as the best", status, a)
	}
	status, a = ask(t, s, "GET", "/task", "", nil)
	if text, _ := json.Marshal(a); status != 200 || a["train_size"] != 2.0 || strings.Contains(string(text), "secret") || !strings.Contains(a["seed_candidate"].(string), "least-loaded") {
		t.Errorf("status %d, %v: want two examples, the baseline, and no word of what is held out", status, a)
	}
}

func TestServerKeepsItsBudget(t *testing.T) {
	s := &Server{Evaluator: smallEvaluator(t, nil), Budget: 3}
	for i, want := range []struct {
		path   string
		status int
	}{{"/evaluate_examples", 200}, {"/evaluate_examples", 429}, {"/evaluate", 200}, {"/evaluate", 429}} {
		if status, a := ask(t, s, "POST", want.path, leastLoaded+`}`, nil); status != want.status {
			t.Errorf("request %d to %s: status %d, %v, want %d", i+1, want.path, status, a, want.status)
		}
	}
	if _, a := ask(t, s, "GET", "/status", "", nil); a["budget"].(map[string]any)["exhausted"] != true {
		t.Errorf("%v: want the budget exhausted", a)
	}
}

func TestServerRefuses(t *testing.T) {
	s := &Server{Evaluator: smallEvaluator(t, nil), Budget: 2}
	body := leastLoaded + `}`
	for name, c := range map[string]struct { // any order: each by itself
		method, path, body string
		change             func(*http.Request)
		status             int
	}{
		"another host":      {"POST", "/evaluate", body, func(r *http.Request) { r.Host = "example.com" }, 403},
		"a rebound name":    {"GET", "/status", "", func(r *http.Request) { r.Host = "localhost.example.com:8080" }, 403},
		"a web page":        {"POST", "/evaluate", body, func(r *http.Request) { r.Header.Set("Origin", "http://localhost:8080") }, 403},
		"a form":            {"POST", "/evaluate", body, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"no content type":   {"POST", "/evaluate", body, func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		"no JSON":           {"POST", "/evaluate", "{", nil, 400},
		"an unknown field":  {"POST", "/evaluate", `{"candidate": "x", "split": "test"}`, nil, 400},
		"no candidate":      {"POST", "/evaluate", `{}`, nil, 400},
		"a held-out one":    {"POST", "/evaluate", leastLoaded + `, "example_id": "secret"}`, nil, 400},
		"held-out ones":     {"POST", "/evaluate_examples", leastLoaded + `, "example_ids": ["secret"]}`, nil, 400},
		"one twice":         {"POST", "/evaluate_examples", leastLoaded + `, "example_ids": ["busy", "busy"]}`, nil, 400},
		"an unknown path":   {"GET", "/", "", nil, 404},
		"an unknown method": {"PUT", "/evaluate", "", nil, 404},
		"too much":          {"POST", "/evaluate", `{"candidate": "` + strings.Repeat("x", longestLine) + `"}`, nil, 400},
	} {
		if status, a := ask(t, s, c.method, c.path, c.body, c.change); status != c.status || a["error"] == "" {
			t.Errorf("%s: status %d, %v, want %d", name, status, a, c.status)
		}
	}
	for _, host := range []string{"127.0.0.1:8080", "[::1]:8080", "localhost"} {
		if status, _ := ask(t, s, "GET", "/status", "", func(r *http.Request) { r.Host = host }); status != 200 {
			t.Errorf("host %s: status %d, want 200", host, status)
		}
	}
	if s.used != 0 {
		t.Errorf("%d of the budget used, want none by what was refused", s.used)
	}
}
