"""Made-up secrets and the texts they stand in, all from a seed, for `benchmarks.redaction`; none was ever valid."""
