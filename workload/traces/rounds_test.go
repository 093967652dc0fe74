package traces

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A round that a session has twice is a bad row, in each format that has rounds.
func TestRoundsThatComeTwiceAreBadRows(t *testing.T) {
	const (
		own  = "arrival_us,input_tokens,output_tokens,session,round\n"
		sim  = "arrival_time_us,input_tokens,output_tokens,session_id,round_index\n"
		that = ": want a round that this session has not had, it has round "
	)
	for _, c := range []badFile{
		{"own", own + "1,5,1,7,0\n\n2,5,1,7,1\n3,5,1,7,0\n", `t:5: round: "0"` + that + "0 on line 2"},
		{"own, empty", own + "1,5,1,7,\n2,5,1,7,\n", `t:3: round: ""` + that + "0 on line 2"},
		{"own, far apart", own + "9,5,1,18446744073709551615,3\n2,5,1,7,3\n3,5,1,0,3\n4,5,1,18446744073709551615,3\n", `t:5: round: "3"` + that + "3 on line 2"},
		{"public simulator", sim + "1,5,1,a,0\n2,5,1,b,0\n3,5,1,a,0\n", `t:4: round_index: "0"` + that + "0 on line 2"},
		{"public simulator, a long row", "error_message," + sim + "\"two\nlines\",1,5,1,a,0\nx,3,5,1,a,0\n", `t:4: round_index: "0"` + that + "0 on line 2"},
	} {
		_, err := Open("t", strings.NewReader(c.text), Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		trace, err := Open("t", strings.NewReader(c.text), Options{SkipBadRows: true})
		if err != nil {
			t.Fatal(err)
		}
		if n, first := trace.Skipped(); n != 1 || fmt.Sprint(first) != c.want {
			t.Errorf("%s: %d rows skipped, the first: %v", c.name, n, first)
		}
	}
	// Requests of no session may all have the round that they like.
	for _, text := range []string{own + "1,5,1,0,4\n2,5,1,,4\n3,5,1,,\n4,5,1,,\n", sim + "1,5,1,,0\n2,5,1,,0\n"} {
		if _, err := Open("t", strings.NewReader(text), Options{}); err != nil {
			t.Error(err)
		}
	}
}

// Without a column of rounds they count in order of arrival, also in our own
// format, so that what is written of such a trace can be read.
func TestRoundsCountWithoutAColumn(t *testing.T) {
	trace := traceText(t, "arrival_us,input_tokens,output_tokens,session\n30,5,1,7\n10,6,1,7\n20,7,1,9\n40,8,1,\n5,9,1,0\n50,4,1,9\n", Options{})
	var out bytes.Buffer
	if err := Write(&out, trace); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range pull(t, traceText(t, out.String(), Options{})) {
		got = append(got, fmt.Sprintf("%d:%d/%d", r.Input, r.Session, r.Round))
	}
	if text := strings.Join(got, " "); text != "9:0/0 6:7/0 7:9/0 5:7/1 8:0/0 4:9/1" {
		t.Errorf("rounds %s", text)
	}
}
