package measured

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"blis/input/textio"
)

// Files of a folder that ReadEngine reads.
const (
	engineMeta = "meta.json"
	engineRows = "requests.jsonl"
)

// What meta.json may say, by path. The first group is needed. Below it, of
// several paths for one thing the first that is there and not null counts: what
// the engine made of its arguments before the arguments.
const (
	metaModel = iota
	metaVersion
	metaTP
	metaDP
	metaRows
	metaDevice
	metaBlocks
	metaBlocksResolved
	metaBlockSize
	metaBlockSizeResolved
	metaSeqs
	metaSeqsAsked
	metaTokens
	metaTokensAsked
	metaLength
	metaLengthAsked
	metaCaching
	metaCachingResolved
	metaCachingAsked
	metaChunked
	metaChunkedAsked
	metaAsync
	metaAsyncAsked
	metaReserve
	metaOffload
)

var metaPaths = strings.Fields("model vllm_version " +
	"engine_kwargs.tensor_parallel_size engine_kwargs.data_parallel_size num_requests hardware.device_name " +
	"kv_cache.num_gpu_blocks resolved_config.cache_config.num_gpu_blocks " +
	"kv_cache.block_size resolved_config.cache_config.block_size " +
	"resolved_config.scheduler_config.max_num_seqs engine_kwargs.max_num_seqs " +
	"resolved_config.scheduler_config.max_num_batched_tokens engine_kwargs.max_num_batched_tokens " +
	"resolved_config.model_config.max_model_len engine_kwargs.max_model_len " +
	"kv_cache.enable_prefix_caching resolved_config.cache_config.enable_prefix_caching engine_kwargs.enable_prefix_caching " +
	"resolved_config.scheduler_config.enable_chunked_prefill engine_kwargs.enable_chunked_prefill " +
	"resolved_config.scheduler_config.async_scheduling engine_kwargs.async_scheduling " +
	"resolved_config.scheduler_config.scheduler_reserve_full_isl " +
	"resolved_config.cache_config.kv_offloading_size")

// readEngine reads a folder with meta.json, the configuration of vLLM as given and
// as derived, and requests.jsonl, the time stamps of its engine. Its ID is the name of the
// folder. Requests are not read before Run.Load, but their file must exist.
//
// meta.json needs model and vllm_version. What it does not say of the limits is
// 0 in the Run. The number of KV blocks there counts vLLM's null block, the
// number in the Run does not. Prefix caching and chunked prefill are on unless it says
// otherwise, asynchronous scheduling from vLLM 0.14 on.
//
// requests.jsonl, or requests.jsonl.gz, is a JSON object per request: input_toks, output_toks,
// arrival_time in seconds of a wall clock, and in seconds of a monotonic clock
// queued_ts, scheduled_ts, first_token_ts, last_token_ts. A request that lacks
// the last of these (absent, null or 0, which is how vLLM says it) failed.
//
// TTFT and E2E of such a run are the engine's, from queued_ts to the first and
// to the last token: without the front end, and as vLLM stamps queued_ts when
// its loop takes requests in, without the wait for the end of the step at hand.
func readEngine(path string) (*Run, error) {
	r, err := readFile(filepath.Join(path, engineMeta), readMeta)
	if err != nil {
		return nil, err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	r.ID, r.file, r.read = filepath.Base(full), filepath.Join(path, engineRows), engineFile
	if !exists(r.file) {
		r.file += ".gz"
	}
	if !exists(r.file) {
		return nil, fmt.Errorf("%s: want %s, or %s.gz, beside %s", path, engineRows, engineRows, engineMeta)
	}
	return r, nil
}

// readMeta is the run that a meta.json describes.
func readMeta(name string, r io.Reader) (*Run, error) {
	text, err := openJSON(name, r)
	if err != nil {
		return nil, err
	}
	leaves, err := text.leaves(metaPaths)
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty: want the description of a run", name)
	}
	if err != nil {
		return nil, err
	}
	m := meta{name: name, leaves: leaves}
	run := m.run()
	if m.fault != nil {
		return nil, m.fault
	}
	return run, nil
}

// meta takes values out of the leaves of a meta.json. The first that is wrong
// is the fault.
type meta struct {
	name   string
	leaves []leaf
	fault  error
}

func (m *meta) run() *Run {
	r := &Run{
		Model:  m.text(metaModel, true),
		Engine: "vLLM " + m.text(metaVersion, true),
		GPU:    m.text(metaDevice, false),
		TP:     int(m.whole(1, 1024, 1, metaTP)),

		DataParallel:        int(m.whole(1, 1024, 1, metaDP)),
		MaxNumSeqs:          int32(m.whole(1, most32, 0, metaSeqs, metaSeqsAsked)),
		MaxNumBatchedTokens: int32(m.whole(1, most32, 0, metaTokens, metaTokensAsked)),
		MaxModelLen:         int32(m.whole(1, most32, 0, metaLength, metaLengthAsked)),
		BlockSize:           int32(m.whole(1, most32, 0, metaBlockSize, metaBlockSizeResolved)),

		PrefixCaching:  m.truth(true, metaCaching, metaCachingResolved, metaCachingAsked),
		ChunkedPrefill: m.truth(true, metaChunked, metaChunkedAsked),
		CPUOffloadGiB:  m.decimal(metaOffload, 1e6),
		Rows:           int(m.whole(0, most32, -1, metaRows)),
		Completed:      -1,
	}
	const null = 1 // block, of those vLLM counts
	r.KVBlocks = max(0, m.whole(1+null, most32, 0, metaBlocks, metaBlocksResolved)-null)
	r.AsyncScheduling = new(m.truth(schedulesAsync(r.Engine), metaAsync, metaAsyncAsked))
	r.ReserveFullISL = m.truth(reservesFullISL(r.Engine), metaReserve)
	return r
}

// given is the place of the first of several leaves that is there and not null;
// −1 if none is.
func (m *meta) given(places []int) int {
	for _, k := range places {
		if m.leaves[k].token != nil {
			return k
		}
	}
	return -1
}

func (m *meta) bad(k int, want string, args ...any) {
	if m.fault != nil {
		return
	}
	if !m.leaves[k].there {
		m.fault = fmt.Errorf("%s: %s: not there: want %s", m.name, metaPaths[k], fmt.Sprintf(want, args...))
		return
	}
	m.fault = bad(m.name, m.leaves[k].line, metaPaths[k], spell(m.leaves[k].token), want, args...)
}

// spell is a JSON token as its file has it, a string without quotes.
func spell(token json.Token) string {
	if token == nil {
		return "null"
	}
	return fmt.Sprint(token)
}

func (m *meta) text(k int, needed bool) string {
	s, ok := m.leaves[k].token.(string)
	if m.leaves[k].token == nil && !needed {
		return ""
	}
	if !ok || s == "" {
		m.bad(k, "a text")
	}
	return s
}

func (m *meta) whole(low, high, otherwise int64, places ...int) int64 {
	k := m.given(places)
	if k < 0 {
		return otherwise
	}
	number, _ := m.leaves[k].token.(json.Number)
	n, ok := textio.Whole(number.String(), low, high)
	if !ok {
		m.bad(k, "a whole number from %d to %d", low, high)
	}
	return n
}

func (m *meta) decimal(k int, high float64) float64 {
	if m.leaves[k].token == nil {
		return 0
	}
	number, _ := m.leaves[k].token.(json.Number)
	x, ok := decimal(number.String(), high)
	if !ok {
		m.bad(k, "a number from 0 to %v", high)
	}
	return x
}

func (m *meta) truth(otherwise bool, places ...int) bool {
	k := m.given(places)
	if k < 0 {
		return otherwise
	}
	yes, ok := m.leaves[k].token.(bool)
	if !ok {
		m.bad(k, "true or false")
	}
	return yes
}
