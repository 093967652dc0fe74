package confine

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// Limits are what a child may take.
type Limits struct {
	Wall   time.Duration // from the work to the end; 0: no limit
	Memory int64         // bytes of data; 0: no limit
}

// CPU is the processor time that a child may take: all cores all the time, and a second to start and to
// end. It ends a child whose parent cannot.
func (l Limits) CPU() time.Duration {
	if l.Wall <= 0 {
		return 0
	}
	return (l.Wall*time.Duration(runtime.NumCPU()) + 2*time.Second).Truncate(time.Second)
}

// spent reports whether a process took about the processor time that it may: the clock of the kernel that
// ends it counts ticks, and on a busy machine it is a tenth ahead of this one.
func (l Limits) spent(p *os.ProcessState) bool {
	return l.Wall > 0 && p.UserTime()+p.SystemTime() >= l.CPU()/4*3
}

// Args are the arguments from which a child reads its limits.
func (l Limits) Args() []string {
	return []string{"--max-memory", strconv.FormatInt(l.Memory, 10), "--max-wall", l.Wall.String()}
}

// Lower lowers the limits of this process, for good. A child calls it before it reads what it
// does not trust.
func Lower(l Limits) error {
	if l.Memory > 0 {
		debug.SetMemoryLimit(l.Memory / 4 * 3) // the collector works before the limit ends the process
	}
	return lower(l)
}
