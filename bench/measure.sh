#!/bin/sh
# Builds blis, measures what the speed budget and its growth limits ask for,
# and puts the tables into README.md between the two "measured" marks.
#
#	bench/measure.sh            lines 1 to 3, growth, content
#	bench/measure.sh line4 …    other scenarios or groups
#
# RUNS is the number of runs per figure (5), CPUS the numbers of cores (1).
set -eu
cd "$(dirname "$0")/.."
scenarios=line1,line2,line3,growth,content
if [ $# -gt 0 ]; then
	scenarios=$(printf '%s,' "$@")
	scenarios=${scenarios%,}
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -pgo=auto -o "$work/blis" ./cmd/blis

load() { cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown; }
before=$(load)
"$work/blis" bench --scenarios "$scenarios" --runs "${RUNS:-5}" --cpu "${CPUS:-1}" >"$work/table" && status=0 || status=$?
if [ ! -s "$work/table" ]; then
	exit "$status"
fi
{
	echo '```text'
	cat "$work/table"
	echo '```'
	echo
	echo "Load averages of the machine: $before before, $(load) after; above 0.2 or so the figures are those of a loaded machine."
} >"$work/measured"
awk -v file="$work/measured" '
	/^<!-- end of measured -->$/ { skip = 0 }
	!skip { print }
	/^<!-- measured -->$/ { while ((getline line < file) > 0) print line; skip = 1 }
' bench/README.md >"$work/README.md"
cat "$work/README.md" >bench/README.md
cat "$work/table"
exit "$status"
