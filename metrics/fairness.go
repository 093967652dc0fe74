package metrics

// jain is Jain's fairness index (Σx)²/(n·Σx²) (Jain, Chiu, Hawe 1984) over the
// tenants that have requests among the cells which in selects, x being the
// output tokens of those that completed; nil when there are none.
func (c *collection) jain(in func(cellKey) bool) *float64 {
	injected, output := make([]int64, len(c.Tenants)), make([]int64, len(c.Tenants))
	for i, k := range c.keys {
		if in(k) && int(k.tenant) < len(c.Tenants) { // check complains of labels without a name
			injected[k.tenant] += c.cells[i].injected()
			output[k.tenant] += c.cells[i].output
		}
	}
	n, sum, squares := 0.0, 0.0, 0.0
	for tenant, requests := range injected {
		if requests > 0 {
			x := float64(output[tenant])
			n++
			sum += x
			squares += float64(x * x)
		}
	}
	return ratio(float64(sum*sum), float64(n*squares))
}
