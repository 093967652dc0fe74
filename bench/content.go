package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"blis/actors"
	"blis/vtime"
	"blis/workload/draw"
)

// content is the group of scenarios whose prompts share their beginnings. Their
// requests are a generated trace in the form of Mooncake's.
const content = "content"

// sharing are the scenarios of the group. What a run costs must follow the spans
// of content, not the blocks: a prompt has some 24 spans, and 750 blocks of 16
// tokens.
func sharing() []Scenario {
	with := func(routing string, instances int, block int32) actors.Config {
		c := actors.DefaultConfig()
		c.Model, c.TP, c.LatencyModel = "Llama-3.1-70B", 8, "roofline"
		c.NumInstances, c.RoutingPolicy, c.BlockSizeInTokens = instances, routing, block
		c.TraceLimit, c.AsyncScheduling = contentRequests, new(false)
		return c
	}
	// A CPU tier of four times the blocks of the GPU stores each block once more.
	tier := func(c actors.Config) actors.Config {
		c.KVCPUBlocks = 4 * 88_330
		return c
	}
	const base = content + "/block-512"
	list := []Scenario{
		{Name: content + "/round-robin", Config: with("round-robin", 8, 16), Budget: 400 * time.Millisecond},
		{Name: base, Config: with("weighted", 8, 512)},
		{Name: content + "/block-16", Config: with("weighted", 8, 16), Against: base, AtMost: 1.5, Budget: 600 * time.Millisecond},
		{Name: content + "/block-4", Config: with("weighted", 8, 4), Against: base, AtMost: 3},
		{Name: content + "/cpu-tier-round-robin", Config: tier(with("round-robin", 8, 16)), Against: content + "/round-robin", AtMost: 2},
		{Name: content + "/cpu-tier", Config: tier(with("weighted", 8, 16)), Against: content + "/block-16", AtMost: 2},
		{Name: content + "/1000-instances", Config: with("weighted", 1_000, 16), Budget: time.Second},
	}
	for i := range list {
		list[i].Title = title(&list[i].Config) + fmt.Sprintf(", shared content, blocks of %d tokens", list[i].Config.BlockSizeInTokens)
		if list[i].Config.KVCPUBlocks > 0 {
			list[i].Title += ", CPU tier"
		}
	}
	return list
}

// Numbers of the generated trace, as in Mooncake's conversation trace where it has
// them: an hour, 12,031 requests, 24 spans per prompt of which 37 % were
// there before, 343 tokens per answer.
const (
	contentRequests = 12_000
	contentSpan     = 512
	contentRate     = 3.4  // requests per second
	contentFollow   = 0.34 // part of the requests that continue a conversation
	contentRecent   = 400  // conversations that may be continued
	contentMost     = 246  // spans of a prompt
)

// conversations draws the prompts of the trace.
type conversations struct {
	chance         draw.Variates
	begun, further draw.Distribution // spans that a prompt adds
	answer         draw.Distribution // tokens
	recent         [][]int           // the spans of conversations that may be continued
	spans          int               // spans that there are
	at             float64           // seconds
}

func newConversations() *conversations {
	return &conversations{
		chance:  draw.NewVariates(vtime.NewStream(1, "bench/content")),
		begun:   draw.Must(draw.NewLognormal(2.3, 1.15)),
		further: draw.Must(draw.NewLognormal(0.9, 1.4)),
		answer:  draw.Must(draw.NewLognormal(5.7, 0.5)),
		spans:   1, // all prompts begin with the same span
	}
}

// next draws a request: its prompt as spans and the tokens of the last one.
func (c *conversations) next() (prompt []int, last int) {
	c.at += c.chance.Exponential() / contentRate
	place := int(float64(len(c.recent)) * c.chance.Uniform())
	added := 0.0
	if len(c.recent) > 0 && c.chance.Uniform() < contentFollow {
		prompt, added = c.recent[place], c.further.Sample(&c.chance)
	} else {
		prompt, added = []int{0}, c.begun.Sample(&c.chance)
		if len(c.recent) < contentRecent {
			place = len(c.recent)
			c.recent = append(c.recent, nil)
		}
	}
	for n := min(1+int(added), contentMost-len(prompt)); n > 0; n-- {
		prompt = append(prompt[:len(prompt):len(prompt)], c.spans)
		c.spans++
	}
	c.recent[place] = prompt
	return prompt, 1 + int(contentSpan*c.chance.Uniform())
}

// prepare writes into dir the trace that s replays, if it does and the trace is
// not there yet. It has twice the requests of s, so that s can be doubled.
func (s *Scenario) prepare(dir string) error {
	if s.Config.TraceLimit == 0 {
		return nil
	}
	s.Config.Trace = filepath.Join(dir, "content.jsonl")
	if _, err := os.Stat(s.Config.Trace); err == nil {
		return nil
	}
	f, err := os.Create(s.Config.Trace)
	if err != nil {
		return err
	}
	return errors.Join(writeContent(f), f.Close())
}

// writeContent writes the trace.
func writeContent(w io.Writer) error {
	b := bufio.NewWriter(w)
	c := newConversations()
	for range 2 * contentRequests {
		prompt, last := c.next()
		fmt.Fprintf(b, `{"timestamp": %d, "input_length": %d, "output_length": %d, "hash_ids": [`,
			int64(1000*c.at), (len(prompt)-1)*contentSpan+last, min(2000, 1+int(c.answer.Sample(&c.chance))))
		for i, span := range prompt {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Itoa(span))
		}
		b.WriteString("]}\n")
	}
	return b.Flush()
}
