package latency

// DataDate is the day on which the data shipped in data/ last changed:
// coefficients, models and GPUs.
const DataDate = "2026-11-29"
