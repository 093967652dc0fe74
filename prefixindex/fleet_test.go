package prefixindex

// fleet is the instances of a test.
type fleet struct {
	blockSize int32
	caches    []int64 // blocks, by instance
	gone      []bool
}

func fleetOf(caches ...int64) *fleet { return &fleet{caches: caches, gone: make([]bool, len(caches))} }

func (f *fleet) add(cache int64) { f.caches, f.gone = append(f.caches, cache), append(f.gone, false) }
func (f *fleet) leave(i int)     { f.gone[i] = true }

func (f *fleet) Len() int                   { return len(f.caches) }
func (f *fleet) Gone(i int) bool            { return f.gone[i] }
func (f *fleet) Cache(i int) (int64, int32) { return f.caches[i], f.blockSize }

// present lists the instances that are not gone.
func (f *fleet) present() (list []int32) {
	for i, gone := range f.gone {
		if !gone {
			list = append(list, int32(i))
		}
	}
	return list
}
