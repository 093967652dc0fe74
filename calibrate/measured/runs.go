package measured

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Columns of runs.csv.
const (
	runID = iota
	runModel
	runGPU
	runTP
	runEngine
	runMaxNumSeqs
	runMaxNumBatchedTokens
	runMaxModelLen
	runBlockSize
	runPrefixCaching
	runChunkedPrefill
	runAsyncScheduling
	runRequired // what follows is optional
)

const (
	runKVBlocks = runRequired + iota
	runReserveFullISL
	runCPUOffload
	runDataParallel
	runProfile
	runSystemPrompt
	runQuestion
	runOutput
	runStages
	runRequests
	runCompleted
)

var runColumns = strings.Fields("id model gpu tp engine max_num_seqs max_num_batched_tokens max_model_len block_size " +
	"prefix_caching chunked_prefill async_scheduling " +
	"kv_blocks reserve_full_isl cpu_offload_gib data_parallel profile system_prompt_tokens question_tokens output_tokens " +
	"stages requests completed")

// ReadRuns reads the description of measured runs. The path is the path of
//
//   - a folder with runs.csv and a folder requests beside it, or such a table
//     itself: all its runs, in its order;
//   - one file of requests, whose run is the one in ../runs.csv that has the
//     file's name, without .csv and .gz, for id;
//   - a folder that ReadEngine reads;
//   - what a load generator wrote, see package loadgen: its runs, without the
//     server.
//
// The table is CSV, columns in any order and others ignored:
//
//	id                         names the file requests/<id>.csv or requests/<id>.csv.gz
//	model, gpu, engine         text; engine as "vLLM 0.15.1"
//	tp                         GPUs per model
//	max_num_seqs, max_num_batched_tokens, max_model_len, block_size   from 1
//	prefix_caching, chunked_prefill, async_scheduling   1 or 0, true or false
//
// and, if they are there and not empty,
//
//	kv_blocks                  usable KV blocks, else 0
//	reserve_full_isl           1 or 0, else by the version of the engine
//	cpu_offload_gib, data_parallel   else 0 and 1
//	profile, system_prompt_tokens, question_tokens, output_tokens   of the workload
//	stages                     requests per second x seconds: "5x600;10x600"
//	requests, completed        how many there are, and did not fail: Run.Load compares
//
// Requests are not read before Run.Load, but their files must exist.
func ReadRuns(path string) ([]Run, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if isRequests(path) {
			return oneRun(path)
		}
		tool, err := recogniseTool(path)
		if err != nil {
			return nil, err
		}
		if tool != "" {
			return readClient(path, tool)
		}
		return readTable(path)
	}
	if exists(filepath.Join(path, engineMeta)) {
		run, err := readEngine(path)
		if err != nil {
			return nil, err
		}
		return []Run{*run}, nil
	}
	if table := filepath.Join(path, "runs.csv"); exists(table) {
		return readTable(table)
	}
	return nil, fmt.Errorf("%s: want a folder with runs.csv, or with %s and %s", path, engineMeta, engineRows)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// isRequests reports whether a file is one of requests, by its header.
func isRequests(path string) bool {
	return slices.Contains(columnsOf(path), requestColumns[requestArrival])
}

// oneRun is the run that a file of requests belongs to.
func oneRun(path string) ([]Run, error) {
	table := filepath.Join(filepath.Dir(path), "..", "runs.csv")
	id := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".csv")
	if !exists(table) {
		return nil, fmt.Errorf("%s: requests of an unknown run: want %s to describe it under id %q", path, table, id)
	}
	list, err := readFile(table, readRuns)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].ID == id {
			list[i].file = path
			return list[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("%s: no run %q: want one, for %s", table, id, path)
}

// readTable reads a table and finds the file of each run.
func readTable(path string) ([]Run, error) {
	list, err := readFile(path, readRuns)
	if err != nil {
		return nil, err
	}
	for i := range list {
		file := filepath.Join(filepath.Dir(path), "requests", list[i].ID+".csv")
		switch {
		case exists(file):
			list[i].file = file
		case exists(file + ".gz"):
			list[i].file = file + ".gz"
		default:
			return nil, fmt.Errorf("%s: id: %q: want its requests in %s or %s.gz", path, list[i].ID, file, file)
		}
	}
	return list, nil
}

// readRuns reads the table alone.
func readRuns(name string, r io.Reader) ([]Run, error) {
	t, err := openTable(name, r, runColumns[:runRequired], runColumns[runRequired:])
	if err != nil {
		return nil, err
	}
	var list []Run
	seen := map[string]bool{}
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		run := parseRun(t)
		if seen[run.ID] {
			t.bad(runID, "an id that no row above has")
		}
		if err := t.err(); err != nil {
			return nil, err
		}
		seen[run.ID] = true
		list = append(list, run)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no runs: want a row for each below the header", name)
	}
	return list, nil
}

// parseRun is the run of the current row; see table.err.
func parseRun(t *table) Run {
	r := Run{
		ID: t.text(runID), Model: t.text(runModel), GPU: t.text(runGPU), Engine: t.text(runEngine),
		TP:                  int(t.whole(runTP, 1, maxTP)),
		MaxNumSeqs:          int32(t.whole(runMaxNumSeqs, 1, most32)),
		MaxNumBatchedTokens: int32(t.whole(runMaxNumBatchedTokens, 1, most32)),
		MaxModelLen:         int32(t.whole(runMaxModelLen, 1, most32)),
		BlockSize:           int32(t.whole(runBlockSize, 1, most32)),
		PrefixCaching:       t.truth(runPrefixCaching),
		ChunkedPrefill:      t.truth(runChunkedPrefill),
		AsyncScheduling:     new(t.truth(runAsyncScheduling)),

		KVBlocks:           t.wholeOr(runKVBlocks, 1, latest, 0),
		CPUOffloadGiB:      t.decimalOr(runCPUOffload, 1e6),
		DataParallel:       int(t.wholeOr(runDataParallel, 1, 1024, 1)),
		Profile:            t.text(runProfile),
		SystemPromptTokens: int(t.wholeOr(runSystemPrompt, 0, most32, 0)),
		QuestionTokens:     int(t.wholeOr(runQuestion, 0, most32, 0)),
		OutputTokens:       int(t.wholeOr(runOutput, 0, most32, 0)),
		Rows:               int(t.wholeOr(runRequests, 0, most32, -1)),
		read:               requestsFile,
	}
	r.Completed = int(t.wholeOr(runCompleted, 0, most32, -1))
	if r.Rows >= 0 && r.Completed > r.Rows {
		t.bad(runCompleted, "at most the %d requests there are", r.Rows)
	}
	r.ReserveFullISL = reservesFullISL(r.Engine)
	if t.text(runReserveFullISL) != "" {
		r.ReserveFullISL = t.truth(runReserveFullISL)
	}
	stages, ok := parseStages(t.text(runStages))
	if !ok {
		t.bad(runStages, "rate x seconds, both above 0, as 5x600;10x600")
	}
	r.Stages = stages
	checkNames(t, &r)
	return r
}

// checkNames: an id is the name of a file, and nothing that leads elsewhere.
func checkNames(t *table, r *Run) {
	if r.ID == "" || r.ID != filepath.Base(r.ID) || r.ID == ".." || r.ID == "." || strings.ContainsAny(r.ID, "/\\\x00") {
		t.bad(runID, "the name of a file in the folder requests, without .csv")
	}
	if r.Model == "" {
		t.bad(runModel, "the id of a model")
	}
	if r.Engine == "" {
		t.bad(runEngine, "the engine and its version, as vLLM 0.15.1")
	}
}
