"""`python -m core`: keepsake-jobs, or one of its helpers when that is asked for first."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["--model-host"]:
        from core.llm.worker import main as run_host

        raise SystemExit(run_host())
    if sys.argv[1:2] == ["--reader"]:
        from core.jobs.reading_process import main as run_reader

        raise SystemExit(run_reader())
    from core.cli import main

    main()
