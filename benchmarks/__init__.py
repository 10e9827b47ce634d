"""One command a benchmark; each prints its floor beside ours."""
