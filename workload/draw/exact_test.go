package draw

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExactFunctionsAgreeWithPackageMath(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	near := func(name string, x, got, want, tolerance float64) {
		if math.Abs(got-want) > tolerance*math.Max(math.Abs(want), 1e-300) {
			t.Fatalf("%s(%v) = %v, package math has %v", name, x, got, want)
		}
	}
	for range 200000 {
		x := math.Exp(r.Float64()*1400 - 700)
		near("log", x, Log(x), math.Log(x), 1e-15)
		x = 1 + (r.Float64()-0.5)*math.Exp(-30*r.Float64()) // where the logarithm is small
		near("log", x, Log(x), math.Log(x), 1e-15)
		x = r.Float64()*1400 - 700
		near("exp", x, Exp(x), math.Exp(x), 1e-15)
		x, y := math.Exp(20*r.Float64()-10), 40*r.Float64()-20
		near("pow", x, Pow(x, y), math.Pow(x, y), 2e-14)
		x, y = 200*r.Float64()-100, math.Floor(100*r.Float64()-50)
		near("pow", x, Pow(x, y), math.Pow(x, y), 2e-14)
		x = 1 + 40*r.Float64()
		want, _ := math.Lgamma(x)
		if math.Abs(LogGamma(x)-want) > 5e-14*(1+math.Abs(want)) {
			t.Fatalf("LogGamma(%v) = %v, package math has %v", x, LogGamma(x), want)
		}
		x = (r.Float64() - 0.5) * math.Exp(-40*r.Float64())
		near("expm1Ratio", x, expm1Ratio(x), math.Expm1(x)/x, 2e-15)
		near("log1pRatio", x, log1pRatio(x), math.Log1p(x)/x, 2e-15)
		x = 600*r.Float64() - 300
		near("expm1Ratio", x, expm1Ratio(x), math.Expm1(x)/x, 2e-15)
		x = math.Exp(600 * r.Float64())
		near("log1pRatio", x, log1pRatio(x), math.Log1p(x)/x, 2e-15)
		x = 10*r.Float64() - 5
		if got, want := cosine(x), math.Cos(2*math.Pi*math.Remainder(x, 1)); math.Abs(got-want) > 5e-16 {
			t.Fatalf("cosine(%v) = %v, package math has %v", x, got, want)
		}
	}
	if Log(1) != 0 || Exp(0) != 1 || Exp(-800) != 0 || Exp(-1e300) != 0 || !math.IsInf(Exp(800), 1) {
		t.Error("log 1, exp 0 or the ends of exp are wrong")
	}
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, 3, 1e308, -1e308, 1e-320, 1024, -1075, 1 << 53, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range special {
		for _, y := range special {
			got, want := Pow(x, y), math.Pow(x, y)
			if got != want && !(got != got && want != want) && !(math.Abs(got-want) <= 1e-13*math.Abs(want)) {
				t.Errorf("Pow(%v, %v) = %v, package math has %v", x, y, got, want)
			}
		}
	}
	if expm1Ratio(0) != 1 || log1pRatio(0) != 1 || math.Abs(expm1Ratio(-1e5)/1e-5-1) > 1e-15 {
		t.Error("the ratios at 0, or far below it, are wrong")
	}
	for quarters, want := range map[float64]float64{0: 1, 1: 0, 2: -1, 3: 0, 4: 1, -8: 1, 1e15: 1} { // any order
		if got := cosine(quarters / 4); got != want {
			t.Errorf("cosine of %v quarter turns is %v, want %v", quarters, got, want)
		}
	}
}

// Bits, not values: a change here changes every synthetic workload.
func TestExactFunctionsHaveTheseBits(t *testing.T) {
	hash := uint64(0)
	r := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		u := 1 - r.Float64()
		for _, v := range []float64{Log(u), Exp(-5 * u), LogGamma(1 + float64(3*u))} {
			hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(v)
		}
	}
	if hash != wantExactBits {
		t.Errorf("hash of the bits = %#x, want %#x", hash, uint64(wantExactBits))
	}
}

const wantExactBits = 0x44f300de885b85f6

func TestWeibullShapeSolvesTheCV(t *testing.T) {
	for _, cv := range []float64{MinCV, 0.1, 0.5, 1, 2, 5, 20, MaxCV} {
		z := weibullInverseShape(cv)
		a, _ := math.Lgamma(1 + 2*z)
		b, _ := math.Lgamma(1 + z)
		if got := math.Sqrt(math.Expm1(a - 2*b)); math.Abs(got/cv-1) > 1e-6 {
			t.Errorf("cv %v: shape %v has cv %v", cv, 1/z, got)
		}
	}
	if z := weibullInverseShape(1); math.Abs(z-1) > 1e-12 {
		t.Errorf("cv 1 is the exponential distribution, shape 1; got %v", 1/z)
	}
}

// TestPowHasTheseBits: on every machine.
func TestPowHasTheseBits(t *testing.T) {
	hash := uint64(0)
	r := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		x, y := Exp(float64(20*r.Float64())-10), float64(40*r.Float64())-20
		hash = hash*0x9e3779b97f4a7c15 + math.Float64bits(Pow(x, y))
	}
	if want := uint64(0xecf8986e6ca57f70); hash != want {
		t.Errorf("hash %#x, want %#x", hash, want)
	}
}
