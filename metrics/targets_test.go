package metrics

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseTargets(t *testing.T) {
	for text, want := range map[string][]ClassTargets{
		"standard:ttft=500ms,tpot=50ms":                  {{"standard", "", Targets{TTFT: 500000, TPOT: 50000}}},
		" batch : e2e = 30s ; a:b:ttft=1s ;":             {{"batch", "", Targets{E2E: 30000000}}, {"a:b", "", Targets{TTFT: 1000000}}},
		"x:ttft=1,tpot=2,e2e=3;y:ttft=1.5ms;z:tpot=20µs": {{"x", "", Targets{1, 2, 3}}, {"y", "", Targets{TTFT: 1500}}, {"z", "", Targets{TPOT: 20}}},
		"tenant/gold:ttft=200ms;ttft=1s;gold:tpot=5":     {{"", "gold", Targets{TTFT: 200000}}, {"", "", Targets{TTFT: 1000000}}, {"gold", "", Targets{TPOT: 5}}},
		"tenant/ a:b/c :e2e=1":                           {{"", "a:b/c", Targets{E2E: 1}}},
	} {
		got, err := ParseTargets(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                                 "names no class",
		";":                                "names no class",
		"ttft=5ms;tpot=5ms":                "every class has targets already",
		"500ms":                            "every class: \"500ms\" is no target",
		":ttft=5ms":                        "names no class",
		" :ttft=5ms":                       "names no class",
		"a:":                               `"" is no target`,
		"a:p99=5ms":                        `"p99=5ms" is no target`,
		"a:ttft":                           `"" is not a duration`,
		"a:ttft=fast":                      `"fast" is not a duration`,
		"a:ttft=-1s":                       `not a duration`,
		"a:ttft=0":                         "at least 1 µs",
		"a:ttft=1s,ttft=2s":                "given twice",
		"a:ttft=1s;a:e2e=2s":               "has targets already",
		"a:ttft=1s;;b:e2e=2s":              "names no class",
		"tenant/:ttft=1s":                  "names no tenant",
		"tenant/a:ttft=1s;tenant/a:e2e=1s": `tenant "a" has targets already`,
		"tenant/a:ttft=x":                  `tenant "a": ttft`,
		"standard:ttft=500ms,e2e=x":        `class "standard": e2e`,
	} {
		if got, err := ParseTargets(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want an error with %q", text, got, err, want)
		}
	}
}

func FuzzParseTargets(f *testing.F) {
	f.Add("standard:ttft=500ms,tpot=50ms;batch:e2e=30s")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTargets(text)
		if (err == nil) == (len(got) == 0) {
			t.Errorf("%q: %d classes and %v", text, len(got), err)
		}
	})
}
