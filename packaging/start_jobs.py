"""The bundle's `keepsake-jobs`: what `python -m core` is in a clone."""

import multiprocessing
import runpy

multiprocessing.freeze_support()
runpy.run_module("core", run_name="__main__", alter_sys=True)
