package calibrate

import (
	"fmt"
	"slices"
	"sort"
)

// stepFolds is the number of blocks of time of a configuration.
const stepFolds = 5

// stepFold holds rows that a fit learns from and rows that test it, as indices into
// stepTable.rows.
type stepFold struct {
	name        string // of what is held out
	train, test []int
}

// divide divides the rows of a configuration, which begin at row from, and counts in
// dropped the rows that it leaves out. Outliers are left out. whole learns from the
// first four fifths and is tested on the last. parts divide the first four fifths
// into blocks of time, each tested with a fit to the others.
//
// Neighbouring steps share a time stamp, which ends one period and begins the
// next, and with async scheduling a step has its batch in one row and its period
// in another. So rows that share a step with a held-out row are left out of
// training: one beside a block, two with async scheduling. A larger distance is not
// kept. Steps share requests with hundreds of others, so a distance without shared
// requests would leave no rows of most traces. Errors of neighbours are alike, but
// sixteen coefficients of thousands of rows carry little of it (see
// TestNeighboursTellLittle).
func (t *stepTable) divide(from int, dropped *[dropReasons]int) (whole stepFold, parts [stepFolds]stepFold) {
	cut := from + (len(t.rows)-from)*4/5
	medians := sizeMedians(t.rows[from:cut])
	for i := from; i < len(t.rows); i++ {
		r := &t.rows[i]
		switch m := medians[sizeOf(r.tokens)]; {
		case m > 0 && r.seconds > outlier*m:
			dropped[outlying]++
		case i < cut:
			whole.train = append(whole.train, i)
		default:
			whole.test = append(whole.test, i)
		}
	}
	n := len(whole.train)
	whole.train = t.withoutStepsOf(whole.train, whole.test)
	dropped[besideHeldOut] += n - len(whole.train)
	n = len(whole.train)
	for k := range parts {
		a, b := k*n/stepFolds, (k+1)*n/stepFolds
		parts[k].test = whole.train[a:b]
		parts[k].train = t.withoutStepsOf(slices.Concat(whole.train[:a], whole.train[b:]), parts[k].test)
	}
	return whole, parts
}

// withoutStepsOf returns the rows that share no step with the rows of block.
func (t *stepTable) withoutStepsOf(rows, block []int) []int {
	if len(block) == 0 {
		return rows
	}
	first, last := t.rows[block[0]].first, t.rows[block[len(block)-1]].last
	return slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
		return t.rows[i].last >= first && t.rows[i].first <= last
	})
}

// joinFolds returns one fold with the rows of several.
func joinFolds(name string, parts ...*stepFold) *stepFold {
	all := &stepFold{name: name}
	for _, p := range parts {
		all.train = append(all.train, p.train...)
		all.test = append(all.test, p.test...)
	}
	return all
}

// check returns an error if a fold is tested on a step that it learned from.
func (t *stepTable) check(f *stepFold) error {
	steps := make([]bool, t.rows[len(t.rows)-1].last+1)
	for _, i := range f.train {
		for n := t.rows[i].first; n <= t.rows[i].last; n++ {
			steps[n] = true
		}
	}
	for _, i := range f.test {
		for n := t.rows[i].first; n <= t.rows[i].last; n++ {
			if steps[n] {
				c := sort.Search(len(t.starts), func(c int) bool { return t.starts[c] > n }) - 1
				return fmt.Errorf("calibrate: fold %s learns from step %d of %s, which judges it", f.name, n-t.starts[c], t.names[c])
			}
		}
	}
	return nil
}

// sizes are the upper limits of the size classes of batches, in scheduled tokens;
// the last class has none.
var sizes = [...]int64{1, 8, 32, 128, 512, 2048}

// sizeOf returns the size class of a batch.
func sizeOf(tokens int64) int {
	n, _ := slices.BinarySearch(sizes[:], tokens)
	return n
}

// sizeMedians returns the median time of batches by size class, 0 where there are
// fewer than medianRows. Prefills of thousands of tokens take twenty times as long as
// the median step of a configuration that mostly decodes, so an outlier can only be
// told among steps of similar size.
func sizeMedians(rows []stepRow) (medians [len(sizes) + 1]float64) {
	var seconds [len(sizes) + 1][]float64
	for i := range rows {
		k := sizeOf(rows[i].tokens)
		seconds[k] = append(seconds[k], rows[i].seconds)
	}
	for k, list := range seconds {
		if len(list) >= medianRows {
			slices.Sort(list)
			medians[k] = percentile(list, 50)
		}
	}
	return medians
}
