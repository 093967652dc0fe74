package traces

import (
	"fmt"
	"testing"
)

// whose prints tenant/class/model and session.round of each request.
func whose(t *testing.T, trace *Trace) (text, lengths string) {
	t.Helper()
	all := pull(t, trace)
	l := trace.Labels()
	for _, r := range all {
		text += fmt.Sprintf("%s/%s/%s %d.%d; ", l.Tenants.Name(r.Tenant), l.Classes.Name(r.Class), l.Models.Name(r.Model), r.Session, r.Round)
	}
	return text, brief(all)
}

func TestBurstGPTSessionsCountTheirRounds(t *testing.T) {
	trace := traceFile(t, "burstgpt.csv", Options{})
	text, lengths := whose(t, trace)
	if want := "0:906:446 51000000:36:29 51250000:1779:0 144000000:1380:178 148500000:20:5 190000000:1600:80"; lengths != want || trace.Format() != BurstGPT {
		t.Errorf("format %s:\n got %s\nwant %s", trace.Format(), lengths, want)
	}
	want := "Conversation log/standard/GPT-4 1.0; Conversation log/standard/ChatGPT 2.0; API log/standard/ChatGPT 0.0; " +
		"Conversation log/standard/GPT-4 1.1; API log/standard/GPT-4 0.0; Conversation log/standard/GPT-4 1.2; "
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestBurstGPTOfVersionOneHasNoSessions(t *testing.T) {
	text, lengths := whose(t, traceFile(t, "burstgpt_v1.csv", Options{}))
	if want := "5000000:472:18 45000000:1087:230 45000000:417:276 118500000:300:0"; lengths != want {
		t.Errorf("got %s\nwant %s", lengths, want)
	}
	want := "Conversation log/standard/ChatGPT 0.0; Conversation log/standard/ChatGPT 0.0; Conversation log/standard/GPT-4 0.0; API log/standard/GPT-4 0.0; "
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// A file whose rows are out of order counts rounds as they arrive.
func TestRoundsCountInOrderOfArrival(t *testing.T) {
	trace := traceText(t, "Timestamp,Session ID,Request tokens,Response tokens\n30,b,3,1\n20,a,2,1\n10,b,1,1\n", Options{})
	text, lengths := whose(t, trace)
	if want := "10000000:1:1 20000000:2:1 30000000:3:1"; lengths != want {
		t.Errorf("got %s, want %s", lengths, want)
	}
	if want := "/standard/ 1.0; /standard/ 2.0; /standard/ 1.1; "; text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}
