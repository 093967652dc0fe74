package actors

import (
	"math"
	"slices"
	"testing"

	"blis/workload"
)

func is(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-12*math.Max(1, want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Two instances, a request of 4 tokens at 1,000: one of them executes from
// 1,000 to 5,000, the other one never. Paid for are 2 × 4,000 µs.
func TestWhatInstancesCostWithoutScaling(t *testing.T) {
	c := plain()
	c.NumInstances, c.CostPerReplicaHour = 2, 9
	s := serve(t, c, request(1000, 10, 4))
	run := s.Figures()
	if s.paid() != 8000 || s.ReplicaSeconds() != 0.008 || run.MeanReplicas != 2 {
		t.Errorf("%v paid, %v s, mean %v; want 8,000, 0.008, 2", s.paid(), s.ReplicaSeconds(), run.MeanReplicas)
	}
	is(t, "busy share", run.BusyShare, 0.5)
	is(t, "completed per replica-hour", run.CompletedPerReplicaHour(), 3600/0.004/2)
	is(t, "cost", run.Cost, 9*0.008/3600)
}

// The second instance is paid for from 13,000, and loaded at 15,000. It works
// from 16,000 to 17,000, the first one for three steps, the run ends at 31,000:
// 4,000 busy of 31,000 + 18,000.
func TestLoadingCountsAgainstBusyShare(t *testing.T) {
	s := serve(t, scaled(1, 2), request(0, 10, 1), request(15_500, 10, 1), request(16_000, 10, 1), request(30_000, 10, 1))
	run := s.Figures()
	is(t, "busy share", run.BusyShare, 4.0/49)
	is(t, "mean replicas", &run.MeanReplicas, 49.0/31)
	is(t, "completed per replica-hour", run.CompletedPerReplicaHour(), 4/0.031*3600/(49.0/31))
	is(t, "utilisation", s.Report.Overall.Resources.Utilisation, 4.0/(31+16))
}

// Two of three requests meet their target of 2,000 µs, on one instance and with
// a second one paid for from 13,000 to the end at 31,000.
func TestScaleEfficiencyIsAttainmentPerReplica(t *testing.T) {
	c := scaled(1, 2)
	c.SLOTargets = "standard:e2e=2ms"
	s := serve(t, c, request(0, 10, 1), request(15_500, 10, 4), request(30_000, 10, 1))
	run := s.Figures()
	is(t, "attainment", s.Report.Overall.SLOAttainment, 2.0/3)
	is(t, "mean replicas", &run.MeanReplicas, 49.0/31)
	is(t, "scale efficiency", run.ScaleEfficiency(), 2.0/3*31/49)
	c.SLOTargets = ""
	if got := serve(t, c, request(0, 10, 1)).Figures().ScaleEfficiency(); got != nil {
		t.Errorf("without targets %v", *got)
	}
}

// A run that ends before anything arrives costs nothing and is worth nothing;
// one in which nothing completes yields 0.
func TestNothingArrives(t *testing.T) {
	c := plain()
	c.Horizon = 5
	run := serve(t, c, request(7, 10, 1)).Figures()
	if run.CompletedPerReplicaHour() != nil || run.BusyShare != nil || run.MeanReplicas != 0 || run.ReplicaHours != 0 {
		t.Errorf("%v completed per hour, busy share %v, %v instances for %v h", run.CompletedPerReplicaHour(), run.BusyShare, run.MeanReplicas, run.ReplicaHours)
	}
	run = serve(t, c, request(0, 10, 1)).Figures()
	is(t, "completed per replica-hour", run.CompletedPerReplicaHour(), 0)
	is(t, "mean replicas", &run.MeanReplicas, 1)
}

// Alone, the request holds a block for its prompt and the tokens up to the
// 16th, and two from then on: it is scheduled at 0, its 6th step, which
// computes token 17, begins at 6,000, and it ends at 10,000.
func TestKVUseOverTime(t *testing.T) {
	s := serve(t, plain(), request(0, 11, 10))
	use := s.Report.KVUse
	if use.BinMicros != 1024 || len(use.BlockMicros) != 10 {
		t.Fatalf("%d bins of %d µs", len(use.BlockMicros), use.BinMicros)
	}
	want := []int64{1024, 1024, 1024, 1024, 1024, 1024 + 144, 2048, 2048, 2048, 2 * 784}
	sum := int64(0)
	for i, got := range use.BlockMicros {
		if sum += got; got != want[i] {
			t.Errorf("bin %d: %d block·µs, want %d", i, got, want[i])
		}
	}
	is(t, "the last share", use.Share[9], 2.0/64)
	if total := s.Report.Overall.Resources.Counters.BlockMicros; sum != total {
		t.Errorf("bins add up to %d block·µs, the counter says %d", sum, total)
	}
}

// Shares are of the blocks that there are: the second instance brings its 64
// at 15,000, and what is used of them counts from then on.
func TestKVUseWhileInstancesCome(t *testing.T) {
	s := serve(t, scaled(1, 2), request(0, 10, 60))
	use := s.Report.KVUse
	counters, k := s.Report.Overall.Resources.Counters, 0.0
	for i, share := range use.Share {
		from, to := int64(i)*use.BinMicros, min(int64(i+1)*use.BinMicros, int64(s.End))
		there := to - from + max(0, to-max(from, 15_000))
		is(t, "share", share, float64(use.BlockMicros[i])/float64(64*there))
		k += *share * float64(64*there)
	}
	is(t, "used", &k, float64(counters.BlockMicros))
	is(t, "mean", s.Report.Overall.Resources.KVMean, k/float64(64*counters.LifeMicros))
}

// Weights are judged at the end, and the configuration keeps them.
func TestFitnessOfARun(t *testing.T) {
	c := plain()
	if s := serve(t, c, request(0, 10, 4)); s.Fitness != nil || len(s.Objectives) != 7 {
		t.Errorf("without weights: fitness %v, objectives %v", s.Fitness, s.Objectives)
	}
	c.FitnessWeights = "p99_ttft@3ms:2,slo_attainment:5,busy_share:1,scale_efficiency:1"
	requests := []workload.Request{request(0, 10, 4)}
	s := serve(t, c, requests...)
	score := 2*0.75 + 1 // TTFT is 1,000, there are no targets, it is always busy
	is(t, "score", &s.Fitness.Score, score)
	if s.Config.FitnessWeights != c.FitnessWeights || len(s.Objectives) != 4 || s.Objectives[1].Value != nil || s.Fitness.Terms[1].Score != 0 {
		t.Errorf("%+v, objectives %+v", s.Fitness, s.Objectives)
	}
	c.FitnessWeights = ""
	if other := serve(t, c, requests...); other.Digest != s.Digest {
		t.Error("judging a run changes its digest")
	}
}

func TestFitnessWeightsAreRefusedWithTheOtherFaults(t *testing.T) {
	c := plain()
	c.FitnessWeights, c.NumInstances = "p99_tft:1", 0
	refusal(t, c, "--num-instances is 0", `--fitness-weights: unknown measure "p99_tft", the nearest is "p99_ttft"`)
}

// highestPrice is the highest price of an instance that is allowed.
const highestPrice = 1e15

// Two instances wait 2⁶² µs for the second request: together longer than an
// int64 holds. So does one that an autoscaler leaves as it is.
func TestInstancesThatWaitForEver(t *testing.T) {
	still := scaled(2, 2)
	still.AutoscaleInterval = 1 << 61
	plain := plain()
	plain.NumInstances = 2
	for _, c := range []Config{plain, still} {
		c.CostPerReplicaHour = highestPrice
		s := serve(t, c, request(0, 10, 1), request(1<<62-1, 10, 1))
		run, use := s.Figures(), s.Report.Overall.Resources
		const hours = 2 * float64(1<<62+999) / 3.6e9
		is(t, "replica-hours", &run.ReplicaHours, hours)
		is(t, "cost", run.Cost, hours*highestPrice)
		is(t, "mean replicas", &run.MeanReplicas, 2)
		for what, share := range map[string]*float64{"busy share": run.BusyShare, "utilisation": use.Utilisation} {
			if want := 2000 / (2 * float64(1<<62+999)); share == nil || *share != want {
				t.Errorf("%s is %v, want %v", what, share, want)
			}
		}
		if use.Counters.LifeMicros != math.MaxInt64 {
			t.Errorf("lives of %d µs, want the largest int64", use.Counters.LifeMicros)
		}
	}
}

// A run of a file with one deployment costs what the same run with flags does.
func TestOneDeploymentCostsTheSame(t *testing.T) {
	flags := []string{"--total-kv-blocks", "100", "--latency-model", "blackbox", "--alpha-coeffs", "0,0,0", "--beta-coeffs", "1000,0,0", "--tp", "2", "--gpu-hour-price", "3"}
	for _, ranks := range []string{"1", "2"} {
		x := &apartTrial{file: "deployments: [{id: a, model: " + apartModels[0] + ", replicas: 3, data_parallel_size: " + ranks + "}]", flags: flags}
		alone := DefaultConfig()
		setFlags(t, &alone, append(slices.Clone(flags), "--model", apartModels[0], "--num-instances", "3", "--data-parallel-size", ranks))
		a := serveLabelled(t, alone, modelLabels(), []workload.Request{asks(0, 5)})
		b := serveLabelled(t, x.config(t), modelLabels(), []workload.Request{asks(0, 5)})
		if a.paid() == 0 || a.paid() != b.paid() || a.MeanReplicas() != b.MeanReplicas() || a.MeanReplicas() != 3 {
			t.Errorf("%s ranks: paid for %v and %v, mean %v and %v", ranks, a.paid(), b.paid(), a.MeanReplicas(), b.MeanReplicas())
		}
		is(t, "busy share", b.BusyShare(), *a.BusyShare())
		is(t, "cost", b.Cost(), *a.Cost())
	}
}
