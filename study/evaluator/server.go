package evaluator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"sync"

	"blis/setup"
	"blis/study/evaluate"
)

// Server is the HTTP server of GEPA's engines (gepa 0.1.4, oa/eval_server.py): POST /evaluate and
// /evaluate_examples, GET /status and /task. An example is a scenario of the suite. It answers only programs on
// this machine, and no web page: requests with an Origin, for another host or with another content than JSON are
// refused.
type Server struct {
	Evaluator *Evaluator
	Budget    int // evaluations of a candidate in a scenario, in all; 0: no limit

	mu        sync.Mutex
	used      int
	best      float64
	evaluated bool // best has a value
}

// budget is the evaluations that are left, as GEPA's tracker says it.
type budget struct {
	Exhausted bool `json:"exhausted"`
	Max       *int `json:"max_evals,omitempty"`
	Used      int  `json:"used"`
	Remaining *int `json:"remaining_evals,omitempty"`
}

// call is the body of a POST.
type call struct {
	Candidate  json.RawMessage `json:"candidate"`
	ExampleID  *string         `json:"example_id"`
	ExampleIDs []string        `json:"example_ids"`
}

// info is an answer with the scores that GEPA's Pareto fronts are made of.
type info struct {
	Scores map[string]float64 `json:"scores"`
	*evaluate.Answer
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if status, problem := refuse(r); problem != "" {
		reject(w, status, problem)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /evaluate":
		s.post(w, r, s.evaluateOne)
	case "POST /evaluate_examples":
		s.post(w, r, s.evaluateExamples)
	case "GET /status":
		s.status(w)
	case "GET /task":
		s.task(w)
	default:
		reject(w, http.StatusNotFound, "want POST /evaluate, POST /evaluate_examples, GET /status or GET /task")
	}
}

// refuse says what is wrong with a request before its body is read. A page in a browser can post to
// this machine, but not without an Origin, and not JSON without asking first.
func refuse(r *http.Request) (status int, problem string) {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address := net.ParseIP(host)
	switch {
	case host != "localhost" && (address == nil || !address.IsLoopback()):
		return http.StatusForbidden, fmt.Sprintf("Host is %q: want this machine, as localhost", r.Host)
	case r.Header.Get("Origin") != "":
		return http.StatusForbidden, "a request with an Origin is of a web page: want none"
	case r.Method == http.MethodPost:
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type is %q: want application/json", r.Header.Get("Content-Type"))
		}
	}
	return 0, ""
}

// post reads the body of a request and answers it.
func (s *Server) post(w http.ResponseWriter, r *http.Request, answer func(context.Context, *call, evaluate.Candidate) (any, error)) {
	var c call
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestLine))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		reject(w, http.StatusBadRequest, fmt.Sprintf(`%v: want {"candidate": "…", "example_id": "…"}`, err))
		return
	}
	candidate, err := readCandidate("", c.Candidate)
	if err != nil {
		reject(w, http.StatusBadRequest, "candidate: "+err.Error())
		return
	}
	value, err := answer(r.Context(), &c, candidate)
	var input *setup.InputError
	switch {
	case err == nil:
		send(w, http.StatusOK, value)
	case errors.Is(err, errBudget):
		send(w, http.StatusTooManyRequests, map[string]any{"error": err.Error(), "budget": s.left()})
	case errors.As(err, &input):
		reject(w, http.StatusBadRequest, err.Error())
	default:
		send(w, http.StatusInternalServerError, map[string]any{"error": err.Error(), "budget": s.left()})
	}
}

// errBudget is the error when evaluations are used up.
var errBudget = errors.New("budget exhausted")

// evaluateOne answers /evaluate: in one scenario, or in all that count.
func (s *Server) evaluateOne(ctx context.Context, c *call, candidate evaluate.Candidate) (any, error) {
	if c.ExampleIDs != nil {
		return nil, &setup.InputError{Text: "example_ids: want example_id, or POST /evaluate_examples"}
	}
	var scenarios []string
	if c.ExampleID != nil {
		scenarios = []string{*c.ExampleID}
	}
	a, err := s.evaluate(ctx, candidate, scenarios, 1)
	if err != nil {
		return nil, err
	}
	return map[string]any{"score": a.Score, "info": info{a.Objectives, a}, "budget": s.left()}, nil
}

// evaluateExamples answers /evaluate_examples: the mean over some scenarios, each of which counts once, and
// what is known of each.
func (s *Server) evaluateExamples(ctx context.Context, c *call, candidate evaluate.Candidate) (any, error) {
	if c.ExampleID != nil {
		return nil, &setup.InputError{Text: "example_id: want example_ids, or POST /evaluate"}
	}
	names := c.ExampleIDs
	if names == nil {
		names = s.scenarios()
	}
	a, err := s.evaluate(ctx, candidate, names, len(names))
	if err != nil {
		return nil, err
	}
	scores, infos, sum := map[string]float64{}, map[string]any{}, 0.0
	for i := range a.PerScenario {
		one := &a.PerScenario[i]
		scores[one.ID], sum = one.Score, sum+one.Score
		infos[one.ID] = map[string]any{"scores": one.Objectives, "metrics": one.Metrics, "feedback": a.Feedback}
	}
	return map[string]any{"average_score": sum / float64(max(1, len(a.PerScenario))), "scores": scores, "infos": infos,
		"num_evaluated": len(names), "errors": map[string]string{}, "answer": a, "budget": s.left()}, nil
}

// evaluate evaluates a candidate, which takes cost of the budget.
func (s *Server) evaluate(ctx context.Context, c evaluate.Candidate, scenarios []string, cost int) (*evaluate.Answer, error) {
	known := s.scenarios()
	for i, name := range scenarios {
		switch {
		case !slices.Contains(known, name):
			return nil, &setup.InputError{Text: fmt.Sprintf("unknown example %q (there are: %v)", name, known)}
		case slices.Contains(scenarios[:i], name):
			return nil, &setup.InputError{Text: fmt.Sprintf("example %q is given twice, want it once", name)}
		}
	}
	s.mu.Lock()
	if s.Budget > 0 && s.used+cost > s.Budget {
		s.mu.Unlock()
		return nil, errBudget
	}
	s.used += cost
	s.mu.Unlock()
	a, err := s.Evaluator.Evaluate(ctx, c, scenarios)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.evaluated || a.Score > s.best {
		s.best, s.evaluated = a.Score, true
	}
	return a, nil
}

// scenarios are the names of the scenarios that count; of those that are held out nobody hears.
func (s *Server) scenarios() (names []string) {
	o := &s.Evaluator.Options
	for _, c := range s.Evaluator.suite.Scenarios {
		if !c.HeldOut && (o.Stage != evaluate.Smoke || c.Smoke) && (o.Scenarios == nil || slices.Contains(o.Scenarios, c.Name)) {
			names = append(names, c.Name)
		}
	}
	return names
}

// left is the budget as it is now.
func (s *Server) left() budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := budget{Used: s.used}
	if s.Budget > 0 {
		left := s.Budget - s.used
		b.Max, b.Remaining, b.Exhausted = &s.Budget, &left, left == 0
	}
	return b
}

// status answers GET /status.
func (s *Server) status(w http.ResponseWriter) {
	left := s.left()
	s.mu.Lock()
	var best *float64
	if s.evaluated {
		best = &s.best
	}
	s.mu.Unlock()
	send(w, http.StatusOK, map[string]any{"budget": left, "task": s.Evaluator.suite.Name, "best_score": best, "total_evals": left.Used, "total_cost": 0})
}

// task answers GET /task: what is to be improved, and with which examples.
func (s *Server) task(w http.ResponseWriter) {
	suite := s.Evaluator.suite
	seed, err := suite.Baseline.MarshalText()
	if err != nil {
		reject(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, http.StatusOK, map[string]any{
		"objective":   "policies of a cluster of LLM inference servers that serve its requests better than the baseline, whose score is 0.5",
		"background":  suite.About,
		"has_dataset": true, "train_size": len(s.scenarios()), "val_size": 0, "test_size": 0,
		"example_ids": s.scenarios(), "seed_candidate": string(seed),
	})
}

func reject(w http.ResponseWriter, status int, problem string) {
	send(w, status, map[string]any{"error": problem})
}

// send answers with JSON.
func send(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"no JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}
