package traces

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"blis/vtime"
	"blis/workload"
)

// Write pulls source empty and writes its requests as a trace of our own
// format with all columns but prefix_group and prefix_tokens, for which
// content stands. Reading it back gives the same requests in the same order;
// only Source and Index are numbered anew. Where the source yields a round of a
// session twice, which none of ours does, it is refused when it is read.
func Write(w io.Writer, source workload.Source) error {
	out := csv.NewWriter(w)
	record := []string{"arrival_us", "input_tokens", "output_tokens", "tenant", "slo_class", "model", "session", "round", "deadline_us", "content", "max_output", "output_content", "priority_hint"}
	if err := out.Write(record); err != nil {
		return err
	}
	var r workload.Request
	for {
		ok, err := source.Pull(&r)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		names := source.Labels()
		tenant, class, model := names.Tenants.Name(r.Tenant), names.Classes.Name(r.Class), names.Models.Name(r.Model)
		if !plain(tenant) || !plain(class) || !plain(model) {
			return fmt.Errorf("request %d: %q, %q, %q: want names of tenant, class and model without line ends, or blanks around them", r.Index, tenant, class, model)
		}
		record = append(record[:0],
			strconv.FormatInt(int64(r.Arrival), 10),
			strconv.Itoa(int(r.Input)), strconv.Itoa(int(r.Output)),
			tenant, class, model,
			"", "", "", formatSpans(r.Spans), "", "", "")
		if r.Session != 0 || r.Round != 0 {
			record[6], record[7] = strconv.FormatUint(r.Session, 10), strconv.Itoa(int(r.Round))
		}
		if r.Deadline != vtime.Never {
			record[8] = strconv.FormatInt(int64(r.Deadline), 10)
		}
		if r.MaxOutput != workload.Absent {
			record[10] = strconv.Itoa(int(r.MaxOutput))
		}
		if r.OutputContent != 0 {
			record[11] = strconv.FormatUint(uint64(r.OutputContent), 10)
		}
		if r.Hint != 0 {
			record[12] = strconv.FormatFloat(r.Hint, 'g', -1, 64)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// plain reports whether a name is read as it is written.
func plain(name string) bool {
	return !strings.ContainsAny(name, "\r\n") && len(trim([]byte(name))) == len(name)
}

func formatSpans(spans []workload.Span) string {
	var text strings.Builder
	for i, s := range spans {
		if i > 0 {
			text.WriteByte('|')
		}
		text.WriteString(strconv.FormatUint(uint64(s.Content), 10))
		text.WriteByte(':')
		text.WriteString(strconv.Itoa(int(s.Length)))
	}
	return text.String()
}
