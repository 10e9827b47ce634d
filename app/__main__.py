"""`python -m app`, and the entry of the bundle. The model host is the same program with one argument."""

import argparse
import logging
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn


def run(arguments: Sequence[str]) -> int:
    """Run the model host or the window; returns the exit code."""
    if "--model-host" in arguments:
        from core.engine import run_model_host

        return run_model_host()
    parser = argparse.ArgumentParser(prog="keepsake", description="A chat that shows what it remembers.")
    parser.add_argument("--data-dir", help="use this folder instead of your own data folder")
    parser.add_argument("--smoke", metavar="TEXT", help="send one message, print the reply as JSON and exit")
    parser.add_argument("--ready-report", action="store_true", help="print when the window is ready, as JSON")
    parser.add_argument("--probe", metavar="NAME", help=argparse.SUPPRESS)  # for end-to-end tests
    options = parser.parse_args(arguments)
    from app.main import Options, main

    return main(
        Options(
            resources=Path(__file__).resolve().parent.parent / "resources",  # also inside a bundle
            data_dir=options.data_dir,
            smoke=options.smoke,
            ready_report=options.ready_report,
            probe=options.probe,
        )
    )


def leave(code: int) -> NoReturn:
    """End the process at once: all is closed by now.

    WORKAROUND: PySide6 6.12.0 now and then crashes while the interpreter takes itself apart.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # a program without a console has none
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    leave(run(sys.argv[1:]))
