"""`python -m core`: keepsake-jobs, or the model host when that is asked for first."""

import sys

if __name__ == "__main__":
    if sys.argv[1:2] == ["--model-host"]:
        from core.llm.worker import main as run_host

        raise SystemExit(run_host())
    from core.cli import main

    main()
