"""Runs first in a frozen program: does what Python itself does before `main` when it is not frozen (PEP 538).

Without a locale (cron, `env -i`) C libraries would take text for ASCII, and Qt would complain on stderr.
"""

import os

if not any(os.environ.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
    os.environ["LC_CTYPE"] = "C.UTF-8"
