"""Commands of keepsake-jobs, a module an area; `core.cli` joins them."""
