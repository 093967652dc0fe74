package actors

import (
	"blis/lookahead"
	"blis/vtime"
	"blis/workload"
)

// Kinds of messages. Those to the tracer are in message_trace.go.
const (
	kindDelivery      lookahead.Kind = iota + 1 // router → instance: a request
	kindOutcome                                 // instance or router → collector: the outcome of a request
	kindEnded                                   // instance → router: a request is no longer in flight
	kindScale                                   // autoscaler → router: the number of instances that there should be
	kindStop                                    // router → instance: it is taken away
	kindReturned                                // instance → router: a request of an instance that is taken away
	kindResumed                                 // router → instance: a request that was returned
	kindBlocks                                  // instance → router: blocks that its prefix cache stored or removed
	kindEvaluate                                // router → autoscaler: when to ask its policy next
	kindTierBlocks                              // instance → router: blocks and entries that its cache and tiers stored or removed
	kindStorage                                 // instance → storage tier: an operation
	kindStorageAnswer                           // storage tier → instance: what came of it
	kindCrash                                   // router → instance: its server crashes
	kindRepair                                  // router → instance: its server was restarted
	kindSlow                                    // router → instance: its steps take longer, or no longer
	kindCutOff                                  // instance → router: a request that was lost with its instance
	kindPrefill                                 // router → instance: a request of which it computes the prompt
	kindPrefilled                               // instance → router: the prefill of a request has ended
	kindPull                                    // router → instance: a request the KV of which it pulls
	kindPulling                                 // instance → router: a pull begins
	kindNotPulled                               // instance → router: a request left before its pull
	kindPulled                                  // router → instance: a pull has ended
	kindGivenUp                                 // router → instance: nobody will pull
	kindReleased                                // instance → router: blocks were let go that awaited their pull
	kindPrefillAgain                            // router → instance: a request that was returned or lost, of which it computes the prompt
	kindPullAgain                               // router → instance: such a request, the KV of which it pulls
	kindSourceLost                              // router → instance: the KV that another one had is gone
	kindRevoked                                 // router → instance: a pull does not end of which it was told so
	kindLink                                    // router → instance: pulls of or to an instance have another share of their bandwidth
	kindPullEnded                               // router → instance: a pull of its own has ended, of which that was not known
	kindEvict                                   // router → instance: a request ends, for one that waits at the gateway
)

// How messages are written.
//
// Each message has a function that sends it and, next to it, one that reads it.
// Both name the fields in their order: a codec that serves both directions
// doubles the time that a message takes. TestMessagesCarryEveryField sends every
// kind with every field set and fails on a field that does not arrive.
//
// The digest of a run folds the words of its messages. So a new field of a
// request must not add a word to the messages of requests that do not use it:
//   - It follows the rare fields, which only requests that have one of them
//     send, as a field of its own. The word of labels is full.
//   - Where a list follows the rare fields (the spans of a prompt), the highest
//     bits of the word of labels, which are 0, say that it is there.

// Times travel as durations since the arrival, which are short.

// since is the duration from the arrival to t; −1 for Never.
func since(arrival, t vtime.Time) int64 {
	if t == vtime.Never {
		return -1
	}
	return int64(t - arrival)
}

// after is the inverse of since.
func after(arrival vtime.Time, d int64) vtime.Time {
	if d < 0 {
		return vtime.Never
	}
	return arrival + vtime.Time(d)
}

// labels is tenant, class and model in the lower 48 bits of a word.
func labels(t *workload.Tags) uint64 {
	return uint64(t.Tenant)<<32 | uint64(t.Class)<<16 | uint64(t.Model)
}

// setLabels is the inverse of labels. It ignores the upper 16 bits.
func setLabels(t *workload.Tags, word uint64) {
	t.Tenant, t.Class, t.Model = workload.Label(word>>32), workload.Label(word>>16), workload.Label(word)
}

// bit is a field that is true or false.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// mustDecode panics on a message that does not parse: both ends are ours.
func mustDecode(b *lookahead.Decoder) {
	if err := b.Err(); err != nil {
		panic("actors: message: " + err.Error())
	}
}
