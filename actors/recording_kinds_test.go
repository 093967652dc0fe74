package actors

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"blis/engine"
	"blis/lookahead"
	"blis/policy"
)

// fieldsOf counts the fields that a row of docs/recordings.md lists, and with those in
// brackets. Of what a message has any number of, the messages of the tests have many.
func fieldsOf(cell string, words map[string]string, many int) (fewest, most int) {
	for range 2 { // words have words in them
		for word, fields := range words { // any order
			cell = strings.ReplaceAll(cell, "*"+word+"*", fields)
		}
	}
	inside := false
	for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return r == '[' || r == ']' }) {
		n := 0
		for _, field := range strings.Split(part, ",") {
			switch field = strings.TrimSpace(field); field {
			case "", "…":
			case "*spans*":
				n += 2 * many
			case "*hints*":
				n += policy.MaxHints
			case "*keys*", "*numbers*":
				n += many
			default:
				n++
			}
		}
		if !inside {
			fewest += n
		}
		most += n
		inside = true
	}
	return fewest, most
}

// TestRecordingsPageHasEveryKind: the table of docs/recordings.md has the number of
// every kind of message, its sender and receiver, and as many fields as it has.
func TestRecordingsPageHasEveryKind(t *testing.T) {
	page, err := os.ReadFile("../docs/recordings.md")
	if err != nil {
		t.Fatal(err)
	}
	words, rows := map[string]string{}, map[lookahead.Kind][]string{}
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) == 3 {
			cells = append(cells, "") // no fields
		}
		if kind, err := strconv.ParseUint(cells[0], 10, 16); err == nil && len(cells) == 4 {
			rows[lookahead.Kind(kind)] = cells[1:]
		} else if word := strings.Trim(cells[0], "*"); len(cells) == 2 && word != cells[0] {
			words[word] = cells[1]
		}
	}
	places := map[lookahead.ProcessID]string{routerID: "router", autoscalerID: "autoscaler", testLeaf: "instance", lookahead.ThirdControl: "storage tier", collectorID: "collector"}
	seen := map[lookahead.Kind]bool{}
	for _, c := range messages {
		few, many, kind := c.sizes(t)
		seen[kind] = true
		row := rows[kind]
		if row == nil {
			t.Errorf("%s: the page has no kind %d", c.name, kind)
			continue
		}
		if from, to, _ := strings.Cut(row[1], " → "); !strings.Contains(from, places[c.from]) || to != places[c.to] {
			t.Errorf("%s: the page has it from %s to %s", c.name, from, to)
		}
		fewest, _ := fieldsOf(row[2], words, 0)
		_, most := fieldsOf(row[2], words, 2)
		switch kind { // messages of the tests that are never that short, or have their lists otherwise
		case kindEnded:
			fewest = few
		case kindBlocks: // stored blocks alone
			few, most = few-1, most-3
		case kindTierBlocks: // one list, of one key at least
			few--
		case kindStorage: // one part at least; those with everything have two
			few, many = few+6, many-10
		}
		if fewest != few || most != many {
			t.Errorf("%s: the page has %d to %d fields, a message %d to %d", c.name, fewest, most, few, many)
		}
	}
	if few, _ := fieldsOf(rows[kindTracedRouting][2], words, 0); few != new(tracedRouting).fields(new(endpoints)) {
		t.Errorf("routing decision: the page has %d fields", few)
	}
	seen[kindTracedRouting] = true
	for kind := range rows { // any order
		if !seen[kind] {
			t.Errorf("the page has a kind %d that is none", kind)
		}
	}
	if want := int(kindEvict) + 1 + int(kindTracedExpiry-kindTracedAdmission); len(seen) != want {
		t.Errorf("%d kinds are compared of %d", len(seen), want)
	}
}

// sizes are the numbers of fields of a message of this kind without anything in it, and
// with everything.
func (c carried) sizes(t *testing.T) (few, many int, kind lookahead.Kind) {
	var sizes []int
	c.read = func(m *lookahead.Message) any {
		sizes, kind = append(sizes, m.Body.Left()), m.Kind
		return nil
	}
	full := fill(c.value, func(_ string, v reflect.Value) { set(v, 1) })
	if x, is := full.(valueAdmission); is {
		x.Decision.Verdict = policy.Delay // a delay alone has a time to wait
		full = x
	}
	if x, is := full.(valueBlocks); is {
		x.changes = []engine.BlockChange{{Key: 1, Stored: true}, {Key: 2, Stored: true}}
		full = x
	}
	c.carry(t, []any{notHandedOver(fill(c.value, func(string, reflect.Value) {})), full})
	if len(sizes) != 2 {
		panic(fmt.Sprintf("actors: %d messages arrived of 2", len(sizes)))
	}
	return sizes[0], sizes[1], kind
}
