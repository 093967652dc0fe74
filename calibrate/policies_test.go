package calibrate

import (
	"cmp"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestRankPoliciesByHand: three policies of which two are swapped.
func TestRankPoliciesByHand(t *testing.T) {
	predicted := []Judged{{"a", "", 100}, {"b", "", 120}, {"c", "ff", 200}, {"new", "", 1}}
	measured := []Judged{{"C", "ff", 180}, {"a", "aa", 150}, {"b", "", 130}, {"old", "", 5}}
	got := RankPolicies(predicted, measured)
	want := &PolicyRanking{
		Order: Order{Spearman: 0.5, Pairs: 3, Ordered: 2}, Gaps: []Gap{{"a", 100, 150}, {"b", 120, 130}, {"c", 200, 180}},
		Swapped: [][2]string{{"b", "a"}}, MeanGap: 80.0 / 3, OnlyPredicted: []string{"new"}, OnlyMeasured: []string{"old"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if x := got.Gaps[0].Relative(); x == nil || math.Abs(*x+1.0/3) > 1e-15 {
		t.Errorf("relative gap %v", x)
	}
}

// TestRankNothingInCommon has no order.
func TestRankNothingInCommon(t *testing.T) {
	got := RankPolicies([]Judged{{"a", "", 1}}, []Judged{{"b", "", 1}})
	if len(got.Gaps) > 0 || got.Pairs != 0 || got.MeanGap != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSwappedPairs are those that are not ordered, and a perfect prediction has none.
func TestSwappedPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "policies")
		var predicted, measured []Judged
		for i := range n {
			name := string(rune('a' + i))
			predicted = append(predicted, Judged{Name: name, Value: float64(rapid.IntRange(0, 6).Draw(t, "predicted"))})
			measured = append(measured, Judged{Name: name, Value: float64(rapid.IntRange(0, 6).Draw(t, "measured"))})
		}
		r := RankPolicies(predicted, measured)
		if r.Pairs-r.Ordered != len(r.Swapped) {
			t.Errorf("%d of %d pairs are ordered, %d swapped", r.Ordered, r.Pairs, len(r.Swapped))
		}
		if perfect := RankPolicies(measured, measured); len(perfect.Swapped) > 0 || perfect.MeanGap != 0 || perfect.Pairs > 0 && perfect.Spearman < 1-1e-9 {
			t.Errorf("%+v", perfect)
		}
		agree := 0 // counted by signs of differences
		for i := range n {
			for j := range i {
				if c := cmp.Compare(measured[i].Value, measured[j].Value); c != 0 && c == cmp.Compare(predicted[i].Value, predicted[j].Value) {
					agree++
				}
			}
		}
		if agree != r.Ordered {
			t.Errorf("%d pairs are ordered, want %d", r.Ordered, agree)
		}
	})
}
