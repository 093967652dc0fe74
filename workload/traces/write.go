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
// content stands. Reading it back gives the same requests but for what the
// format does not hold: Source and Index, OutputContent, Hint.
func Write(w io.Writer, source workload.Source) error {
	out := csv.NewWriter(w)
	record := []string{"arrival_us", "input_tokens", "output_tokens", "tenant", "slo_class", "model", "session", "round", "deadline_us", "content", "max_output"}
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
		if strings.ContainsAny(tenant+class+model, "\r\n") {
			return fmt.Errorf("request %d: %q, %q, %q: want names of tenant, class and model without line ends", r.Index, tenant, class, model)
		}
		record = append(record[:0],
			strconv.FormatInt(int64(r.Arrival), 10),
			strconv.Itoa(int(r.Input)), strconv.Itoa(int(r.Output)),
			tenant, class, model,
			"", "", "", formatSpans(r.Spans), "")
		if r.Session != 0 {
			record[6], record[7] = strconv.FormatUint(r.Session, 10), strconv.Itoa(int(r.Round))
		}
		if r.Deadline != vtime.Never {
			record[8] = strconv.FormatInt(int64(r.Deadline), 10)
		}
		if r.MaxOutput != workload.Absent {
			record[10] = strconv.Itoa(int(r.MaxOutput))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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
