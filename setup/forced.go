package setup

import (
	"strconv"
	"strings"
)

// resolveForced reads the requests with their instances.
func resolveForced(p *Plan) (err error) {
	p.Forced, err = parseForced(p.Config.ForceRouting)
	return err
}

// parseForced reads requests with their instances, "17=3,40=0".
func parseForced(text string) (map[int64]int, error) {
	if text == "" {
		return nil, nil
	}
	forced := map[int64]int{}
	for i, entry := range strings.Split(text, ",") {
		left, right, found := strings.Cut(entry, "=")
		request, err := strconv.ParseInt(strings.TrimSpace(left), 10, 64)
		instance, err2 := strconv.ParseInt(strings.TrimSpace(right), 10, 32)
		if !found || err != nil || err2 != nil || request < 0 || instance < 0 {
			return nil, inputErrorf("--force-routing: entry %d is %q: want request=instance, two numbers from 0, like 17=3", i+1, strings.TrimSpace(entry))
		}
		if _, twice := forced[request]; twice {
			return nil, inputErrorf("--force-routing: request %d is given twice", request)
		}
		forced[request] = int(instance)
	}
	return forced, nil
}
