"""The bundle's `keepsake`: what `python -m app` is in a clone."""

import multiprocessing
import runpy

multiprocessing.freeze_support()
runpy.run_module("app", run_name="__main__", alter_sys=True)
