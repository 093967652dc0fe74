package latency

// rooflineRecords say where roofline was compared with measured runs and how far off it
// was: sets without coefficients, one for each GPU. Nothing of roofline was fitted to
// these runs. The figures are those of blis validate --latency-model roofline with async
// scheduling, as on the servers; docs/latency.md has the commands.
var rooflineRecords = []*PhysicsSet{
	{
		Name: "roofline",
		TrainedOn: Training{
			Models: []string{"meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-70b-hf", "mistralai/Mixtral-8x7B-v0.1", "codellama/CodeLlama-34b-Instruct-hf"},
			Kinds:  []string{"dense", "moe"}, GPUs: []string{"H100"}, TPMin: 1, TPMax: 4, ContextMax: 1059, SeatsMax: 128, StepTokensMax: 2048,
			Engine: "vLLM 0.15.1", AsyncScheduling: true, ChunkedPrefill: true, Samples: 99_000,
		},
		Errors: []HeldOutError{
			rooflineError("ttft", 9, 4, 3.07, 1223.85, 922.52, 909.21, 10899.82),
			rooflineError("tpot", 9, 4, 14.22, 16.16, 14.85, 13.6, 48.95),
			rooflineError("e2e", 9, 4, 14.05, 31.37, 26.28, 24.85, 185.53),
		},
	},
	{
		Name: "roofline",
		TrainedOn: Training{
			Models: []string{"meta-llama/Llama-3.1-8B"}, Kinds: []string{"dense"}, GPUs: []string{"RTX4090"}, TPMin: 1, TPMax: 1,
			ContextMax: 4765, SeatsMax: 256, StepTokensMax: 2048, Engine: "vLLM 0.19.0", AsyncScheduling: true, ChunkedPrefill: true, Samples: 300,
		},
		Errors: []HeldOutError{
			rooflineError("ttft", 1, 1, 28.56, 28.56, 28.56, 28.56, 28.56),
			rooflineError("tpot", 1, 1, 20.84, 20.84, 20.84, 20.84, 20.84),
			rooflineError("e2e", 1, 1, 26.7, 26.7, 26.7, 26.7, 26.7),
		},
	},
	{
		Name: "roofline",
		TrainedOn: Training{
			Models: []string{"meta-llama/Llama-3.1-8B"}, Kinds: []string{"dense"}, GPUs: []string{"RTX-PRO-6000"}, TPMin: 1, TPMax: 1,
			ContextMax: 4765, SeatsMax: 128, StepTokensMax: 2048, Engine: "vLLM 0.19.0", AsyncScheduling: true, ChunkedPrefill: true, Samples: 300,
		},
		Errors: []HeldOutError{
			rooflineError("ttft", 1, 1, 19.78, 19.78, 19.78, -19.78, -19.78),
			rooflineError("tpot", 1, 1, 7.77, 7.77, 7.77, -7.77, -7.77),
			rooflineError("e2e", 1, 1, 10.83, 10.83, 10.83, -10.83, -10.83),
		},
	},
}

func rooflineError(metric string, runs, models int, median, mean, byModel, bias, worst float64) HeldOutError {
	return HeldOutError{
		HeldOut: NothingFitted, Metric: metric, Statistic: "mean", Runs: runs, Models: models,
		MedianAPEPercent: median, MeanAPEPercent: mean, ModelMeanAPEPercent: byModel, BiasPercent: bias, WorstPercent: worst,
	}
}

// RooflineRecords returns what was measured of roofline's error, by GPU. They have no
// coefficients and must not be changed.
func RooflineRecords() []*PhysicsSet { return rooflineRecords }

// RooflineRecord returns what was measured of roofline's error on the GPU of a
// deployment, or, if nothing was, on H100. It has no coefficients and must not be
// changed. Coverage says what of a run was not measured.
func RooflineRecord(d *Deployment) *PhysicsSet {
	for _, r := range rooflineRecords {
		if d.GPU.is(r.TrainedOn.GPUs[0]) {
			return r
		}
	}
	return rooflineRecords[0]
}
