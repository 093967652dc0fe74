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
		pool string
		of   *Pool
		tier *StorageTier
	}
	var first []use
	for i := range p.Deployments {
		d := &p.Deployments[i]
		for _, s := range d.Pools() {
		next:
			for k := range s.Storage {
				x := use{d.PoolName(s), s, &s.Storage[k]}
				if x.tier.Scope == StorageNode && !p.Config.NodePools.Empty() {
					return inputErrorf("--kv-storage: %s has scope node: want local or shared with node_pools, which say of other nodes than those of %d GPUs that the scope means", x.tier.Name, gpusOfNode)
				}
				if x.tier.Scope != StorageShared {
					continue
				}
				for _, y := range first {
					if y.tier.Name != x.tier.Name {
						continue
					}
					if y.of.Model.Name != s.Model.Name {
						return inputErrorf("--kv-storage: %s and %s share %s, and serve %s and %s: want a tier with a name of its own for each model", y.pool, x.pool, x.tier.Name, y.of.Model.Name, s.Model.Name)
					}
					if y.tier.alone() != x.tier.alone() {
						return inputErrorf("--kv-storage: %s and %s share %s, and have it with other sizes, rates, or entries: want the same, or a tier with a name of its own for each", y.pool, x.pool, x.tier.Name)
					}
					continue next
				}
				first = append(first, x)
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
