package latency

// RooflineRecords returns where roofline was compared with measured servers and how far
// off it was, by GPU and range of TP degrees: sets without coefficients, which must not
// be changed. Nothing of roofline was fitted to these servers. Runs with E2E and TTFT come
// first; other records have TPOT alone, of users in closed loops.
func RooflineRecords() []*PhysicsSet { return rooflineRecords }

// RooflineRecord returns what was measured of roofline's error for a deployment: on its
// GPU at its TP, or else on its GPU, or else on H100. Coverage says what of a run was
// not measured.
func RooflineRecord(d *Deployment) *PhysicsSet {
	nearest := rooflineRecords[0]
	for _, r := range rooflineRecords {
		t := &r.TrainedOn
		if !d.GPU.is(t.GPUs[0]) {
			continue
		}
		if d.TP >= t.TPMin && d.TP <= t.TPMax {
			return r
		}
		if !d.GPU.is(nearest.TrainedOn.GPUs[0]) {
			nearest = r
		}
	}
	return nearest
}
