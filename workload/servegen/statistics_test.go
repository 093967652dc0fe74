package servegen

import (
	"math"
	"sort"
	"strconv"
	"testing"

	"blis/vtime"
	"blis/workload/draw"
	"blis/workload/traffic"
)

// measured is one window of a published client, alone with its neighbours.
type measured struct {
	client traffic.Client
	window int    // of client.Rate
	row    window // of the file
	seed   uint64
}

// byCV is a window with the shape that gives its gaps the CV of the file.
func byCV(w window) window {
	if w.process == draw.Gamma {
		w.shape = 1 / (w.cv * w.cv)
		return w
	}
	low, high := 0.05, 50.0 // the CV falls with the shape
	for range 100 {
		w.shape = math.Sqrt(low * high)
		if variation(w.process, w.shape) > w.cv {
			low = w.shape
		} else {
			high = w.shape
		}
	}
	return w
}

// pick chooses windows of every published client, evenly over those that have
// enough requests for their CV to be measured within ten percent.
func pick(t *testing.T, each int, byShape bool) (all []measured) {
	t.Helper()
	whole, _ := read(t, published, Options{})
	for _, c := range whole {
		path := published + "/" + c.ID + traceEnd
		text, err := load(path)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parseTrace(path, text)
		if err != nil {
			t.Fatal(err)
		}
		var good []window
		for _, w := range rows {
			if w.process != draw.Poisson && !byShape {
				w = byCV(w)
			}
			if n := w.rate * 600; n >= 500 && math.Sqrt(logVariance(&w)/n) < 0.1 {
				good = append(good, w)
			}
		}
		for i := range min(each, len(good)) {
			w := good[(2*i+1)*len(good)/(2*min(each, len(good)))]
			m := measured{row: w, seed: uint64(len(all) + 1)}
			clients, _ := read(t, path, Options{From: max(0, w.start-600), To: w.end + 600, ByShape: byShape})
			m.client = clients[0]
			for m.client.Rate.Windows[m.window].Start != microseconds(w.start-max(0, w.start-600)) {
				m.window++
			}
			all = append(all, m)
		}
	}
	return all
}

// moments are the central moments of gaps of mean 1: variance, third, fourth.
func moments(w *window) (m2, m3, m4 float64) {
	var raw [5]float64
	for j := range raw {
		x := float64(j)
		if w.process == draw.Gamma {
			a, _ := math.Lgamma(w.shape + x)
			b, _ := math.Lgamma(w.shape)
			raw[j] = math.Exp(a - b - x*math.Log(w.shape))
		} else {
			a, _ := math.Lgamma(1 + x/w.shape)
			b, _ := math.Lgamma(1 + 1/w.shape)
			raw[j] = math.Exp(a - x*b)
		}
	}
	return raw[2] - 1, raw[3] - 3*raw[2] + 2, raw[4] - 4*raw[3] + 6*raw[2] - 3
}

// logVariance is n times the asymptotic variance of the logarithm of the CV of
// n gaps, by the delta method: of log s it is (m₄/m₂² − 1)/4, of the log of the
// mean m₂, and their covariance m₃/(2m₂).
func logVariance(w *window) float64 {
	m2, m3, m4 := moments(w)
	return (m4/(m2*m2)-1)/4 - m3/m2 + m2
}

// arrivals generates the client and returns the arrivals in the window, in s.
func (m *measured) arrivals(t *testing.T) (in []float64) {
	t.Helper()
	a := draw.NewArrivals(m.client.Process, &m.client.Rate, vtime.NewStream(m.seed, "workload/"+m.client.ID+"/arrivals"))
	w := m.client.Rate.Windows[m.window]
	for {
		at, more, err := a.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more || at >= w.End {
			return in
		}
		if at >= w.Start {
			in = append(in, float64(at)/1e6)
		}
	}
}

// Windows have the rate of the file, and the CV of the file, or that of the shape
// which was fitted there, whichever was asked for.
func TestPublishedWindowsHaveTheirRateAndCV(t *testing.T) {
	needPublished(t)
	for _, byShape := range []bool{false, true} {
		testWindows(t, byShape)
	}
}

func testWindows(t *testing.T, byShape bool) {
	all := pick(t, 3, byShape)
	if len(all) < 12 {
		t.Fatalf("%d windows, want a dozen", len(all))
	}
	for _, m := range all {
		in := m.arrivals(t)
		n, want := float64(len(in)), m.row.rate*600
		cv := variation(m.row.process, m.row.shape)
		if bound := 4*cv*math.Sqrt(want) + 2; math.Abs(n-want) > bound {
			t.Errorf("%s line %d, seed %d: %v requests, want %v within %.0f", m.client.ID, m.row.line, m.seed, n, want, bound)
		}
		sum, square := 0.0, 0.0
		for i := 1; i < len(in); i++ {
			g := in[i] - in[i-1]
			sum += g
			square += g * g
		}
		mean := sum / (n - 1)
		got := math.Sqrt(square/(n-1)-mean*mean) / mean
		bound := 4 * math.Sqrt(logVariance(&m.row)/n)
		t.Logf("%s line %d, %s: %v of %.0f requests, CV %.3f, of the shape %.3f, of the file %.3f, within %.0f %%", m.client.ID, m.row.line, m.row.process, n, want, got, cv, m.row.cv, 100*bound)
		if math.Abs(math.Log(got/cv)) > bound {
			t.Errorf("%s line %d, seed %d: CV %v, want %v within a factor %.3f", m.client.ID, m.row.line, m.seed, got, cv, math.Exp(bound))
		}
		if (m.row.process == draw.Gamma || !byShape) && math.Abs(math.Log(got/m.row.cv)) > bound {
			t.Errorf("%s line %d, seed %d: CV %v, want that of the file %v within a factor %.3f", m.client.ID, m.row.line, m.seed, got, m.row.cv, math.Exp(bound))
		}
	}
}

func TestPublishedLengthsAreDrawnAsMeasured(t *testing.T) {
	needPublished(t)
	const n = 20000
	for _, m := range pick(t, 2, true) {
		dataset := plainDataset(t, m.client.ID)[strconv.FormatInt(m.row.start/21600*21600, 10)]
		change := m.client.Changes[m.window]
		for _, c := range []struct {
			key    string
			length *draw.Length
		}{{inputKey, change.Input}, {outputKey, change.Output}} {
			p, err := plain(dataset[c.key])
			if err != nil {
				t.Fatal(err)
			}
			v := draw.NewVariates(vtime.NewStream(m.seed, "workload/"+m.client.ID+"/"+c.key))
			drawn := make([]float64, n)
			for i := range drawn {
				drawn[i] = float64(c.length.Sample(&v))
			}
			compare(t, &m, c.key, drawn, tableOf(p))
		}
	}
}

// compare holds the mean to four standard errors, and the distance of Kolmogorov
// and Smirnov to what continuous data exceed once in a thousand times, discrete
// ones less often.
func compare(t *testing.T, m *measured, key string, drawn []float64, want *table) {
	t.Helper()
	n := float64(len(drawn))
	sort.Float64s(drawn)
	sum, mean, square := 0.0, 0.0, 0.0
	for _, x := range drawn {
		sum += x
	}
	for i, x := range want.lengths {
		mean += want.weights[i] * x
		square += want.weights[i] * x * x
	}
	if bound := 4*math.Sqrt((square-mean*mean)/n) + 1e-9; math.Abs(sum/n-mean) > bound {
		t.Errorf("%s line %d, seed %d: %s: mean %v, want %v within %.3g", m.client.ID, m.row.line, m.seed, key, sum/n, mean, bound)
	}
	distance, below, cumulated := 0.0, 0, 0.0
	for i, x := range want.lengths {
		for below < len(drawn) && drawn[below] <= x {
			below++
		}
		cumulated += want.weights[i]
		distance = max(distance, math.Abs(float64(below)/n-cumulated))
	}
	if distance*math.Sqrt(n) > 1.95 {
		t.Errorf("%s line %d, seed %d: %s: distance of the distributions %v, want at most %v", m.client.ID, m.row.line, m.seed, key, distance, 1.95/math.Sqrt(n))
	}
}
