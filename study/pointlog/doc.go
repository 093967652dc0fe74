// Package pointlog keeps what came of the points of a sweep: a log of rows that
// only grows, one JSON object a line, in a folder. A kill at any moment, and a full
// or failing disk, lose at most the rows that were not synced yet, and never
// damage one.
//
//	row.go      Row: what a line says, and what makes one wrong
//	encode.go   a row as JSON
//	decode.go   JSON as a row, strictly; tokens.go the grammar below it
//	scan.go     the lines of a file; Rows: all rows of it
//	table.go    Table: by key, where the row that counts lies, and Counts
//	log.go      Log: Open, Append, Sync, Close
//	folder.go   the names of files in a folder, what Open reads, and its locks
//	merge.go    Merge: a table of several folders
//	sorted.go   WriteSorted: a row for every label of the sweep, in its order
//	disk.go     WriteFile and CreateFile, which replace and create a file whole
//
// # Files
//
// A folder has points.jsonl, or points-I-of-N.jsonl for each shard, and
// points.sorted.jsonl once every point has a row. A shard may run beside other
// shards in one folder; a sweep without shards runs alone. Files with a
// Options.Stem other than "points" are logs of their own beside them.
//
// # Which row counts
//
// Within a file the last row of a key counts. Between files a row that ended by
// itself counts more than one that was ended by wall time or a kill. Two ok rows of
// a key with other digests are an error: a point has one result.
//
// # Memory
//
// A table takes at most BytesPerPoint for each key. Rows stay on disk.
package pointlog
