package actors

// SemanticsVersion is the version of what a run does: two programs of one version give
// the same digests for the same configuration. It goes up whenever a digest changes;
// testdata/digests.txt holds some of the version, and a test compares them. Results of
// two versions are not kept in one folder.
const SemanticsVersion = 3
