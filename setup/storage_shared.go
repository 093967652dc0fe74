package setup

// Storage tiers that several pools share: those of scope shared with one name. They are one store with
// one way to read and one to write, so they must be alike, and of one model: the keys of entries do not
// say of which model they are.

// sharedGPUs returns, by the names of storage tiers, the GPUs of all instances that share them.
func sharedGPUs(c *Config) map[string]int {
	n := map[string]int{}
	for _, one := range PoolConfigs(c) {
		if !one.HasCPUTier() {
			continue
		}
		for i := range one.KVStorage.list {
			n[one.KVStorage.list[i].name] += one.NumInstances * InstanceGPUs(&one)
		}
	}
	return n
}

// checkSharedStorage refuses tiers that pools cannot share.
func checkSharedStorage(p *Plan) error {
	type use struct {
		pool, model string
		tier        *StorageTier
	}
	first := map[string]use{} // by tier
	for i := range p.Deployments {
		d := &p.Deployments[i]
		for _, s := range d.Pools() {
			for k := range s.Storage {
				x := use{d.PoolName(s), s.Model.Name, &s.Storage[k]}
				name := x.tier.Name
				if x.tier.Scope == StorageNode && !p.Config.NodePools.Empty() {
					return inputErrorf("--kv-storage: %s has scope node: want local or shared with node_pools: the scope means nodes of %d GPUs, not those of node_pools", name, gpusOfNode)
				}
				if x.tier.Scope != StorageShared {
					continue
				}
				y, there := first[name]
				switch {
				case !there:
					first[name] = x
				case y.model != x.model:
					return inputErrorf("--kv-storage: %s and %s share %s, and serve %s and %s: want a tier with a name of its own for each model", y.pool, x.pool, name, y.model, x.model)
				case y.tier.alone() != x.tier.alone():
					return inputErrorf("--kv-storage: %s and %s share %s, and have it with other sizes, rates, or entries: want the same, or a tier with a name of its own for each", y.pool, x.pool, name)
				}
			}
		}
	}
	return nil
}

// alone returns what a tier is, whoever has it.
func (t *StorageTier) alone() StorageTier {
	one := *t
	one.perNode = 0
	return one
}
