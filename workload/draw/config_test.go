package draw

import (
	"math"
	"strings"
	"testing"

	"blis/vtime"
	"blis/workload"
)

func TestBadParametersAreRefusedInOneLine(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	refused := func(_ Distribution, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{refused(NewFixed(nan)), "value: NaN: want from -1e+18 to 1e+18"},
		{refused(NewGaussian(5, -1)), "std_dev: -1: want from 0 to 1e+18"},
		{refused(NewGaussian(inf, nan)), "mean: +Inf: want from -1e+18 to 1e+18; std_dev: NaN: want from 0 to 1e+18"},
		{refused(NewUniform(2, 1)), "max: 1: want at least min 2"},
		{refused(NewUniform(-inf, nan)), "min: -Inf: want from -1e+18 to 1e+18; max: NaN: want from -1e+18 to 1e+18"},
		{refused(NewExponential(-3)), "mean: -3: want from 0 to 1e+18"},
		{refused(NewLognormal(401, -0.1)), "mu: 401: want from -400 to 400; sigma: -0.1: want from 0 to 20"},
		{refused(NewLognormalMean(0, 1)), "mean: 0: want above 0, at most 1e+18"},
		{refused(NewLognormalMean(nan, inf)), "mean: NaN: want above 0, at most 1e+18; cv: +Inf: want from 0 to 1e+06"},
		{refused(NewParetoLognormal(0, 0, 0, 0, 2)), "alpha: 0: want from 0.1 to 1e+06; xm: 0: want above 0, at most 1e+18; mix_weight: 2: want from 0 to 1"},
		{refused(NewParetoLognormal(1, 1, nan, 1, nan)), "mu: NaN: want from -400 to 400; mix_weight: NaN: want from 0 to 1"},
		{refused(NewZipf(-1, 0)), "s: -1: want from 0 to 100; n: 0: want from 1 to 10000000"},
		{refused(NewZipf(nan, 1_000_000_000)), "s: NaN: want from 0 to 100; n: 1000000000: want from 1 to 10000000"},
		{refused(NewEmpirical(nil, nil)), "values: none: want at least one"},
		{refused(NewEmpirical([]float64{1, nan, nan}, nil)), "values[1]: NaN: want from -1e+18 to 1e+18"},
		{refused(NewEmpirical([]float64{1, 2}, []float64{1})), "weights: 1: want 2, one for each value"},
		{refused(NewEmpirical([]float64{1, 2}, []float64{1, -1})), "weights[1]: -1: want 0 or more, finite"},
		{refused(NewEmpirical([]float64{1, 2}, []float64{inf, 1})), "weights[0]: +Inf: want 0 or more, finite"},
		{refused(NewEmpirical([]float64{1, 2}, []float64{0, 0})), "weights: all 0: want one above 0"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("\n got %v\nwant %s", c.err, c.want)
		}
	}
	defer func() {
		if r := recover(); r != "draw: mean: -1: want from 0 to 1e+18" {
			t.Errorf("Must: %v", r)
		}
	}()
	Must(NewExponential(-1))
}

func TestBadLawsAreRefusedInOneLine(t *testing.T) {
	for _, c := range []struct {
		law  ArrivalProcess
		want string
	}{
		{ArrivalProcess{}, ""}, {ArrivalProcess{Kind: Poisson}, ""}, {ArrivalProcess{Kind: Constant}, ""}, {ArrivalProcess{Kind: Gamma, CV: 0.001}, ""},
		{ArrivalProcess{Kind: Weibull, Shape: 0.1}, ""}, {ArrivalProcess{Kind: Pareto, Alpha: 1.01}, ""}, {ArrivalProcess{Kind: Periodic}, ""}, {ArrivalProcess{Kind: Burst, Size: 1}, ""},
		{ArrivalProcess{Kind: "gama"}, `process: "gama": there is none of that name, the nearest is "gamma": want poisson, constant, gamma, weibull, pareto, periodic or burst`},
		{ArrivalProcess{Kind: Gamma}, "cv: 0: want from 0.001 to 100, or a shape instead"},
		{ArrivalProcess{Kind: Weibull, CV: math.NaN()}, "cv: NaN: want from 0.001 to 100, or a shape instead"},
		{ArrivalProcess{Kind: Gamma, CV: 1, Shape: 1}, "shape: 1: want one of cv and shape, not both"},
		{ArrivalProcess{Kind: Gamma, Shape: 1e7}, "shape: 1e+07: want from 0.0001 to 1e+06"},
		{ArrivalProcess{Kind: Weibull, Shape: -1}, "shape: -1: want from 0.1 to 10000"},
		{ArrivalProcess{Kind: Pareto, Alpha: 1}, "alpha: 1: want above 1 (there is no mean gap else), at most 1e+06"},
		{ArrivalProcess{Kind: Pareto, Alpha: math.Inf(1)}, "alpha: +Inf: want above 1 (there is no mean gap else), at most 1e+06"},
		{ArrivalProcess{Kind: Periodic, Jitter: 1.5}, "jitter: 1.5: want from 0 to 1"},
		{ArrivalProcess{Kind: Burst}, "size: 0: want at least 1"},
		{ArrivalProcess{CV: 1}, "cv: 1: want it with process gamma or weibull only, not with poisson"},
		{ArrivalProcess{Kind: Constant, Shape: 1, Alpha: 2, Jitter: 1, Size: 3}, "shape: 1: want it with process gamma or weibull only, not with constant; alpha: 2: want it with process pareto only, not with constant; jitter: 1: want it with process periodic only, not with constant; size: 3: want it with process burst only, not with constant"},
	} {
		var bad, named workload.Faults
		c.law.Check(&bad, "")
		if got := text(&bad); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
		c.law.Check(&named, "a.")
		if got := text(&named); got != "" && !strings.HasPrefix(got, "a."+c.want) && len(c.want) < 80 {
			t.Errorf("with a prefix: %s", got)
		}
	}
}

func text(bad *workload.Faults) string {
	if err := bad.Err(""); err != nil {
		return err.Error()
	}
	return ""
}

func TestBadCurvesAreRefusedInOneLine(t *testing.T) {
	window := func(ws ...Window) RateCurve {
		c := Flat(1)
		c.Windows = ws
		return c
	}
	pieces := func(p ...Piece) RateCurve { return RateCurve{Pieces: p} }
	whole := Piece{Length: 1 << 62, From: 0, To: 1e12}
	for _, c := range []struct {
		curve RateCurve
		want  string
	}{
		{Flat(1e-300), ""}, {pieces(whole), ""}, {window(Window{Start: 0, End: 1, Factor: 1}, Window{Start: 1, End: vtime.Never}), ""},
		{RateCurve{}, "c.pieces: none: want at least one"},
		{Flat(0), "c.rate: 0: want a rate above 0 at some time"},
		{RateCurve{Pieces: []Piece{{5, 0, 0}, {7, 0, 0}}, Repeat: true}, "c.rate: 0: want a rate above 0 at some time"},
		{pieces(Piece{0, 1, 1}), "c.pieces[0].length: 0µs: want above 0"},
		{pieces(Piece{1, 1, 1}, whole), "c.pieces[1].length: 4611686018427387904µs: want at most 2⁶² µs for all pieces together"},
		{pieces(Piece{1, 1, 1}, Piece{1, -1, 1}), "c.pieces[1].from: -1: want a rate per second from 0 to 1e+12"},
		{pieces(Piece{1, 1, math.NaN()}, Piece{1, -1, 1}), "c.pieces[0].to: NaN: want a rate per second from 0 to 1e+12"},
		{Flat(math.Inf(1)), "c.pieces[0].from: +Inf: want a rate per second from 0 to 1e+12"},
		{Spikes(10, 8, 3, 2), "c.pieces[2].length: -1µs: want above 0"},
		{window(Window{Start: -1, End: 1, Factor: 1}), "c.windows[0].start: -1µs: want from 0 to 2⁶² µs"},
		{window(Window{Start: vtime.Never, End: vtime.Never, Factor: 1}), "c.windows[0].start: never: want from 0 to 2⁶² µs"},
		{window(Window{Start: 5, End: 5, Factor: 1}), "c.windows[0].end: 5µs: want after its start 5µs"},
		{window(Window{Start: 5, End: 4, Factor: 1}), "c.windows[0].end: 4µs: want after its start 5µs"},
		{window(Window{Start: 0, End: 9, Factor: 1}, Window{Start: 8, End: 12, Factor: 1}), "c.windows[1].start: 8µs: want at least 9µs, the end of the window before"},
		{window(Window{Start: 0, End: 9, Factor: math.NaN()}), "c.windows[0].factor: NaN: want from 0 to 1e+12"},
		{window(Window{Start: 0, End: 9, Factor: 1, Process: &ArrivalProcess{Kind: Burst}}), "c.windows[0].size: 0: want at least 1"},
		{window(Window{Start: 0, End: 9}), "c.rate: 0: want a rate above 0 at some time"},
	} {
		var bad workload.Faults
		c.curve.Check(&bad, "c.")
		if got := text(&bad); got != c.want {
			t.Errorf("\n got %s\nwant %s", got, c.want)
		}
	}
}

func TestDelayKnowsItsLeast(t *testing.T) {
	for _, c := range []struct {
		dist      Distribution
		min, max  vtime.Duration
		want      vtime.Duration
		wantError string
	}{
		{Must(NewUniform(1500.7, 3000)), 0, 5000, 1500, ""},
		{Must(NewUniform(1500.7, 3000)), 2000, 5000, 2000, ""},
		{Must(NewUniform(1500, 3000)), 0, 1000, 1000, ""},
		{Must(NewGaussian(100, 5)), 7, math.MaxInt64, 7, ""},
		{Must(NewExponential(100)), 0, math.MaxInt64, 0, ""},
		{Fixed(250), 0, 1000, 250, ""},
		{Must(NewEmpirical([]float64{30, 20, 90}, nil)), 1, 1000, 20, ""},
		{Must(NewZipf(1, 10)), 0, 1000, 0, ""},
		{Fixed(1), -1, -2, -2, "min: -1µs: want 0 or more; max: -2µs: want at least min -1µs"},
	} {
		d, err := NewDelay(c.dist, c.min, c.max)
		if d.Min != c.want || d.Least() != c.want || (err != nil) != (c.wantError != "") || err != nil && err.Error() != c.wantError {
			t.Errorf("%s in [%v, %v]: least %v, %v, error %v; want %v and %q", c.dist.String(), c.min, c.max, d.Min, d.Least(), err, c.want, c.wantError)
		}
		if err != nil {
			continue
		}
		v, shortest := NewVariates(vtime.NewStream(1, "x")), vtime.Duration(math.MaxInt64)
		for range 1000 {
			shortest = min(shortest, d.Sample(&v))
		}
		low, _ := c.dist.Bounds()
		if shortest < c.want || low > 0 && float64(shortest) > 1.01*float64(c.want) {
			t.Errorf("%s in [%v, %v]: drew %v, the least was to be %v", c.dist.String(), c.min, c.max, shortest, c.want)
		}
	}
	var zero Delay
	v := NewVariates(vtime.NewStream(1, "x"))
	if zero.Sample(&v) != 0 || zero.Least() != 0 {
		t.Error("the zero delay is not 0")
	}
	for _, us := range []float64{0x1p63, 1e300} {
		huge := Delay{Dist: Fixed(us), Max: math.MaxInt64}
		if got := huge.Sample(&v); got != math.MaxInt64 {
			t.Errorf("a delay of %v µs is %v", us, got)
		}
	}
}

func TestLengthIsRoundedAndClamped(t *testing.T) {
	v := NewVariates(vtime.NewStream(1, "x"))
	for x, want := range map[float64]int32{2.5: 3, 2.49: 2, -1e9: 1, 1e9: 1000, 1000.4: 1000} { // any order
		if l := (Length{Fixed(x), 1, 1000}); l.Sample(&v) != want {
			t.Errorf("%v is the length %d, want %d", x, l.Sample(&v), want)
		}
	}
	seen := map[int32]int{}
	l := Length{Must(NewUniform(0.5, 4.5)), 1, 4}
	for range 40_000 {
		seen[l.Sample(&v)]++
	}
	for n := int32(1); n <= 4; n++ {
		if math.Abs(float64(seen[n])-10_000) > 500 {
			t.Errorf("%d of 40,000 draws from 1 to 4 are %d", seen[n], n)
		}
	}
}

// What has only one value draws nothing, so that it shifts no other draw.
func TestConstantsDrawNothing(t *testing.T) {
	v := NewVariates(vtime.NewStream(1, "x"))
	before := v.Fold()
	for want, d := range map[float64]Distribution{ // any order
		1: Must(NewGaussian(1, 0)), 2: Must(NewUniform(2, 2)), 0: Must(NewExponential(0)), Exp(1.5): Must(NewLognormal(1.5, 0)),
		4: Must(NewLognormalMean(4, 0)), 5: Must(NewEmpirical([]float64{5, 6, 5}, []float64{1, 0, 2})), 7: Must(NewFixed(7)),
	} {
		if got := d.Sample(&v); got != want || d.Mean() != want || d.Variance() != 0 || v.Fold() != before {
			t.Errorf("%s: drew %v, and from the stream: %v", d.String(), got, v.Fold() != before)
		}
	}
	if d := Must(NewZipf(2, 1)); d.Sample(&v) != 0 || v.Fold() != before {
		t.Error("Zipf of one value is not constant")
	}
}

func TestBoundsHoldAndNamesSayWhatTheyAre(t *testing.T) {
	for _, c := range distributions() {
		low, high := c.dist.Bounds()
		v := NewVariates(vtime.NewStream(1, "x"))
		for range 2000 {
			if x := c.dist.Sample(&v); !(x >= low && x <= high) {
				t.Fatalf("%s: drew %v outside [%v, %v]", c.name, x, low, high)
			}
		}
	}
	for want, d := range map[string]Distribution{ // any order
		"gaussian 512 ± 128":                            Must(NewGaussian(512, 128)),
		"constant 1500000":                              Must(NewFixed(1.5e6)),
		"uniform from 1 to 2":                           Must(NewUniform(1, 2)),
		"exponential, mean 300":                         Must(NewExponential(300)),
		"lognormal, mean 40, CV 0.5":                    Must(NewLognormalMean(40, 0.5)),
		"Zipf of exponent 1.1 over 1000 values":         Must(NewZipf(1.1, 1000)),
		"empirical, 3 values from 1 to 9, mean 4.66667": Must(NewEmpirical([]float64{1, 4, 9}, nil)),
		"10 % Pareto of alpha 1.5 from 100, else lognormal of mu 3, sigma 0.5": Must(NewParetoLognormal(1.5, 100, 3, 0.5, 0.1)),
	} {
		if d.String() != want {
			t.Errorf("%q, want %q", d.String(), want)
		}
	}
}
