package vtime_test

import (
	"testing"

	"blis/vtime"
)

// The numbers stand in stamps, traps and mutants.
func TestClassesKeepTheirNumbers(t *testing.T) {
	for want, class := range []uint8{
		vtime.ClassArrival, vtime.ClassAdmission, vtime.ClassRouting, vtime.ClassDelivery, vtime.ClassTransfer, vtime.ClassQueued,
		vtime.ClassStep, vtime.ClassTimeout, vtime.ClassNotice, vtime.ClassScale, vtime.ClassScaleAction, vtime.ClassReady, vtime.ClassRefresh,
	} {
		if int(class) != want {
			t.Errorf("class %d has the number %d", want, class)
		}
	}
}
