package cli

import (
	"strconv"
	"strings"

	"blis/study/pointlog"
)

// shardOf reads --shard. auto is what the array job of Slurm, or the indexed job of
// Kubernetes, says in the environment; Kubernetes does not say how many there are, so
// the job sets BLIS_SHARDS.
func shardOf(text string, lookup func(string) (string, bool)) (pointlog.Shard, error) {
	switch text {
	case "":
		return pointlog.Shard{}, nil
	case "auto":
		return autoShard(lookup)
	}
	left, right, found := strings.Cut(text, "/")
	i, err := strconv.Atoi(left)
	n, err2 := strconv.Atoi(right)
	if !found || err != nil || err2 != nil || i < 0 || i >= n || n > mostShards {
		return pointlog.Shard{}, inputErrorf("--shard %s: want I/N, from 0/N to N-1/N, or auto", text)
	}
	return pointlog.Shard{I: i, N: n}, nil
}

const mostShards = 1_000_000

func autoShard(lookup func(string) (string, bool)) (pointlog.Shard, error) {
	number := func(name string) (int, error) {
		text, _ := lookup(name)
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, inputErrorf("--shard auto: %s is %q: want a whole number", name, text)
		}
		return n, nil
	}
	if _, slurm := lookup("SLURM_ARRAY_TASK_ID"); slurm {
		id, err := number("SLURM_ARRAY_TASK_ID")
		first, err2 := number("SLURM_ARRAY_TASK_MIN")
		count, err3 := number("SLURM_ARRAY_TASK_COUNT")
		if err := firstOf(err, err2, err3); err != nil {
			return pointlog.Shard{}, err
		}
		return checkShard(id-first, count, "SLURM_ARRAY_TASK_ID: want an array without gaps, like --array=0-15")
	}
	if _, kubernetes := lookup("JOB_COMPLETION_INDEX"); kubernetes {
		i, err := number("JOB_COMPLETION_INDEX")
		n, err2 := number("BLIS_SHARDS")
		if err := firstOf(err, err2); err != nil {
			return pointlog.Shard{}, err
		}
		return checkShard(i, n, "JOB_COMPLETION_INDEX: want one below BLIS_SHARDS, which is the job's completions")
	}
	return pointlog.Shard{}, inputError("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set: want I/N")
}

func checkShard(i, n int, problem string) (pointlog.Shard, error) {
	if i < 0 || i >= n || n > mostShards {
		return pointlog.Shard{}, inputErrorf("--shard auto: part %d of %d by %s", i, n, problem)
	}
	return pointlog.Shard{I: i, N: n}, nil
}
