package actors

// streamAhead is how many deliveries a router may be ahead of the instances if
// it waits for none of them: so many per instance, but at least and at most so
// many in all. It is enough to keep many cores busy and little enough to stay
// in their caches.
func streamAhead(cfg *Config) int {
	const perInstance, least, most = 1 << 10, 8 << 10, 64 << 10
	if cfg.Ahead > 0 {
		return cfg.Ahead
	}
	return min(max(perInstance*cfg.NumInstances, least), most)
}
