package setup

// Instances returns the number of instances that a run of c begins with. It reads a file of
// deployments; of one that cannot be read there are none.
func Instances(c *Config) int {
	n := 0
	for _, s := range sizes(c) {
		n += s.instances
	}
	return n
}

// InstanceGPUs returns the GPUs of an instance of c: of all its data-parallel ranks.
func InstanceGPUs(c *Config) int { return c.TP * max(1, c.DataParallelSize) }

// GPUs returns the number of GPUs that a run of c begins with, as Instances does.
func GPUs(c *Config) int {
	n := 0
	for _, s := range sizes(c) {
		n += s.instances * s.gpus
	}
	return n
}

// HourlyPrice returns the price per hour of all instances that a run of c begins with; 0: none is
// given. On nodes it is what resolving c places them on that counts.
func HourlyPrice(c *Config) float64 {
	base := *c
	if OpenDeployments(&base) == nil && base.NodePools.Prices() {
		return priceOnNodes(c)
	}
	sum := 0.0
	for _, s := range sizes(c) {
		sum += float64(s.replicaPrice*float64(s.instances)) + float64(s.gpuPrice*float64(s.instances*s.gpus))
	}
	return sum
}

// priceOnNodes is HourlyPrice where nodes have prices.
func priceOnNodes(c *Config) (sum float64) {
	p := newResolver(*c)
	p.brief = true
	if inOrder(func() error { return OpenDeployments(&p.Config) }, p.resolvePolicies, p.checkInputs, func() error { return resolvePools(p) }, func() error { return resolveNodePools(p) }) != nil {
		return 0 // there is no such run
	}
	for k, s := range p.Pools {
		one := &p.Config
		if len(p.parts) > 0 {
			one = &p.parts[k].Config
		}
		gpu := one.GPUHourPrice + one.CostPerReplicaHour/float64(s.TP*s.Ranks.Ranks)
		for _, nodes := range p.Placed[s] {
			for _, n := range nodes {
				sum += float64(p.NodePools[n.Pool].PriceOr(gpu) * float64(s.TP))
			}
		}
	}
	return sum
}

// Scales reports whether the number of instances changes in a run of c.
func Scales(c *Config) bool {
	for _, s := range sizes(c) {
		if s.scales {
			return true
		}
	}
	return false
}

// size is what a pool begins with, its prices per hour, and whether its size changes.
type size struct {
	instances, gpus        int // gpus of each
	replicaPrice, gpuPrice float64
	scales                 bool
}

// sizes returns those of the pools, but for those with faults.
func sizes(c *Config) []size {
	var list []size
	for _, one := range PoolConfigs(c) {
		list = append(list, size{one.NumInstances, InstanceGPUs(&one), one.CostPerReplicaHour, one.GPUHourPrice, one.AutoscalePolicy != "none" && one.AutoscalePolicy != ""})
	}
	return list
}

// PoolConfigs returns the configuration of a run with each pool of c alone, in their order; of one pool
// that is c. It reads a file of deployments, and leaves out what has faults.
func PoolConfigs(c *Config) (list []Config) {
	switch {
	case !SeveralPools(c):
		return []Config{*c}
	case c.Deployments.Empty():
		for _, r := range roles {
			if one, err := poolConfig(c, r); err == nil {
				list = append(list, one)
			}
		}
		return list
	}
	base := *c
	if OpenDeployments(&base) != nil {
		return nil
	}
	for i := range base.Deployments.list {
		if one, err := base.Deployments.list[i].config(&base); err == nil {
			list = append(list, PoolConfigs(&one)...)
		}
	}
	return list
}
