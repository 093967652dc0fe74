package policy

// What policies read of the tiers below the GPU.

// UsedEntries returns the number of entries of the CPU tier of instance i that are in
// use: written, being written, or about to be. It is 0 without a tier.
func (v *View) UsedEntries(i int) int64 {
	if checkReads {
		v.check(CPUKVUse)
	}
	return v.services[i].TierUsed
}

// Transfers returns the numbers of stores to the CPU tier of instance i, and of loads
// from it, that were submitted and whose end the instance has not noticed.
func (v *View) Transfers(i int) (stores, loads int64) {
	if checkReads {
		v.check(TransferQueue)
	}
	s := &v.services[i]
	return s.Stores, s.Loads
}

// PendingOffloads returns the number of stores to the CPU tier that instance i has
// chosen and not submitted.
func (v *View) PendingOffloads(i int) int64 {
	if checkReads {
		v.check(PendingOffloads)
	}
	return v.services[i].ChosenStores
}

// StorageEntries returns the number of entries in use of the storage tiers of instance i, as of the
// last answer of each that the instance noticed. It is 0 without any.
func (v *View) StorageEntries(i int) int64 {
	if checkReads {
		v.check(StorageKVUse)
	}
	return v.services[i].StorageUsed
}
