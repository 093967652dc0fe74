package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A tenant that is called like a parameter of another policy keeps its quota when
// a printed configuration, which has that parameter's flag, is read back; and a
// flag of another policy's parameter is an error.
func TestFaultF1TenantQuotaRoundTrip(t *testing.T) {
	folder := t.TempDir()
	trace := "arrival_us,input_tokens,output_tokens,tenant\n" + strings.Repeat("0,50,20,capacity\n", 30)
	if err := os.WriteFile(filepath.Join(folder, "cap.csv"), []byte(trace), 0o600); err != nil {
		t.Fatal(err)
	}
	const quota = "--set admission.type=tenant-quota --set admission.params.max_active=2 --trace cap.csv "
	for _, c := range []struct{ more, want string }{
		{"", "30 injected: 2 completed, 28 rejected"},
		{"--set admission.tenants.capacity=5", "30 injected: 5 completed, 25 rejected"},
		{"--set admission.tenants.max_active=7", "30 injected: 2 completed, 28 rejected"},
	} {
		first, code := shell(t, folder, "$BLIS run "+quota+c.more)
		if code != 0 || !strings.Contains(first, c.want) {
			t.Fatalf("%s: exit %d, want %s:\n%s", c.more, code, c.want, first)
		}
		again, code := shell(t, folder, "$BLIS run "+quota+c.more+" --print-config >c.yaml && $BLIS run --config c.yaml")
		if code != 0 || digestOf(t, again) != digestOf(t, first) || !strings.Contains(again, c.want) {
			t.Errorf("%s, printed and read back: exit %d, another run:\n%s", c.more, code, again)
		}
		if same, code := shell(t, folder, "$BLIS run --config c.yaml --print-config | diff - c.yaml"); code != 0 {
			t.Errorf("%s: printed again it is another configuration:\n%s", c.more, same)
		}
	}
	said, code := shell(t, folder, "$BLIS run --admission-policy tenant-quota --token-bucket-capacity 5")
	if code != 2 || !strings.Contains(said, `--token-bucket-capacity: admission.params.capacity: tenant-quota has no parameter "capacity"`) {
		t.Errorf("a flag of the token bucket: exit %d: %s", code, said)
	}
}

// The policy files of the public simulator run, and a specification that is given
// as one is named.
func TestCasePolicyFileOfThePublicSimulatorRuns(t *testing.T) {
	folder := t.TempDir()
	const text = "admission:\n  policy: always-admit\nrouting:\n  policy: weighted\n  scorers:\n    - name: prefix-affinity\n      weight: 3\n    - name: load-balance\n      weight: 1\npriority:\n  policy: constant\nscheduler: fcfs\n"
	if err := os.WriteFile(filepath.Join(folder, "policy.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	first, code := shell(t, folder, "$BLIS run --policy-config policy.yaml --num-requests 50")
	if code != 0 || !strings.Contains(first, "50 injected: 50 completed") {
		t.Fatalf("exit %d: %s", code, first)
	}
	same, code := shell(t, folder, "$BLIS run --routing-policy weighted --routing-scorers prefix-affinity:3,load-balance:1 --num-requests 50")
	if code != 0 || digestOf(t, same) != digestOf(t, first) {
		t.Errorf("exit %d, another run than with flags: %s", code, same)
	}
	said, code := shell(t, folder, "$BLIS workload scenarios diurnal-cycle >w.yaml; $BLIS run --policy-config w.yaml")
	if code != 2 || !strings.Contains(said, "specification of a workload, which is given with --workload-spec") {
		t.Errorf("exit %d: %s", code, said)
	}
}
