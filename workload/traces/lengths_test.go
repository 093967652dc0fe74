package traces

import (
	"errors"
	"strings"
	"testing"

	"blis/vtime"
)

// steps is a pace with equal gaps that ends after so many arrivals (0: never).
type steps struct {
	at, gap vtime.Time
	end     int
	given   int
}

func (s *steps) Next() (vtime.Time, bool, error) {
	if s.given++; s.end > 0 && s.given > s.end {
		return 0, false, nil
	}
	s.at += s.gap
	return s.at, true, nil
}

// brokenPace fails at once.
type brokenPace struct{}

func (brokenPace) Next() (vtime.Time, bool, error) { return 0, false, errors.New("rate: too low") }

func TestLengthsArriveAtThePace(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     Options
		pace  steps
		want  string
		given int
	}{
		{"all", Options{}, steps{gap: 100}, "100:3772:54 200:2015:156 300:800:1 400:64:640", 4},
		{"not moved, however late", Options{}, steps{gap: 1 << 50}, "1125899906842624:3772:54 2251799813685248:2015:156 3377699720527872:800:1 4503599627370496:64:640", 4},
		{"pace of what is kept", Options{Offset: 1, Limit: 2}, steps{gap: 100}, "100:2015:156 200:800:1", 2},
		{"speedup", Options{Speedup: 2}, steps{gap: 100}, "50:3772:54 100:2015:156 150:800:1 200:64:640", 4},
		{"pace that ends", Options{}, steps{gap: 100, end: 3}, "100:3772:54 200:2015:156 300:800:1", 4},
		{"ties are spread", Options{Offset: 2, SpreadTies: true}, steps{at: 7}, "7:800:1 7:64:640", 2},
	} {
		c.o.Pace = &c.pace
		trace := traceFile(t, "lengths.csv", c.o)
		if got := brief(pull(t, trace)); got != c.want || !trace.Paced() || trace.Format() != Lengths || c.pace.given != c.given {
			t.Errorf("%s: %d arrivals drawn, paced %v, format %s\n got %s\nwant %s", c.name, c.pace.given, trace.Paced(), trace.Format(), got, c.want)
		}
	}
}

func TestLengthsNeedAPace(t *testing.T) {
	const text = "num_prefill_tokens,num_decode_tokens\n5,1\n"
	for _, c := range []struct {
		pace Pace
		want string
	}{
		{nil, "rate: not given: want --rate, requests per second: the rows of t have no arrivals (format lengths)"},
		{brokenPace{}, "rate: too low"},
		{&steps{end: 1, given: 1}, "rate: 0 for ever: want one at which the requests of t arrive"},
	} {
		if _, err := Open("t", strings.NewReader(text), Options{Pace: c.pace}); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	pace := &steps{gap: 1}
	if trace := traceFile(t, "azure.csv", Options{Pace: pace}); trace.Paced() || pace.given != 0 {
		t.Error("a trace with arrivals took those of the pace")
	}
}

func TestServeGenWindowsAreNoRequests(t *testing.T) {
	for line, want := range map[string]bool{
		"0,0,0,,0,0": true, "600,2.5,1.25,Gamma,0.64,0.625": true, "1200,3e0,0.9,Weibull,1,2\r": true,
		"0,0,0,1,0,0": false, "0,0,0,Gamma,0": false, "0,0,0,Gamma,0,0,0": false, "a,0,0,Gamma,0,0": false,
		"": false, ",,,,,": false, "arrival_us,input_tokens,output_tokens,a,b,c": false,
	} {
		if got := isServeGen([]byte(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
	_, err := OpenFile("../../testdata/traces/servegen-chunk-0-trace.csv", Options{})
	want := "../../testdata/traces/servegen-chunk-0-trace.csv: windows of a ServeGen client, which are no requests: want a file of requests, or these under servegen_data of a specification"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
