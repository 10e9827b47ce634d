"""What the operating system has to bring: Qt's libraries, fonts, a compiler. Standard library only.

Asked before anything is built. The list of libraries is what `ldd` shows for Qt's xcb and Wayland plugins and
for Qt6Widgets, less what those pull in themselves; package names are Debian's and Ubuntu's.
"""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

LIBRARIES = {  # soname: package
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
}
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
CHINESE_FONTS = ("*CJK*", "wqy*", "*[Mm]ing*", "*[Hh]ei*", "DroidSansFallback*", "SourceHan*")


class MissingPackagesError(Exception):
    """Packages have to be installed first; the text says which and how."""


def find_missing(purpose: str, *, compiler_needed: bool) -> tuple[list[str], list[str]]:
    """Return the packages that are needed for `purpose` and absent, and those that would only be nice."""
    if sys.platform != "linux":
        return [], []
    needed = [package for soname, package in LIBRARIES.items() if not _loads(soname)]
    if not _has_font(CHINESE_FONTS, "zh"):
        needed.append("fonts-noto-cjk")
    if compiler_needed and not any(map(shutil.which, ("c++", "g++", "clang++"))):
        needed.append("g++")
    if purpose in ("test", "bundle") and not shutil.which("Xvfb"):
        needed.append("xvfb")
    if purpose == "test" and not shutil.which("xdotool"):
        needed.append("xdotool")  # the end-to-end tests type and click with it
    if purpose in ("test", "bundle") and not shutil.which("objdump"):
        needed.append("binutils")  # PyInstaller reads libraries with it
    nice = [] if _has_font(("Inter*",)) else ["fonts-inter"]
    return list(dict.fromkeys(needed)), nice


def provide(
    purpose: str, *, compiler_needed: bool, run: Callable[[list[str]], None], say: Callable[[str], None]
) -> None:
    """Install what is missing where we are root and have apt; else raise `MissingPackagesError`."""
    needed, nice = find_missing(purpose, compiler_needed=compiler_needed)
    wanted = needed + nice
    if wanted and os.geteuid() == 0 and shutil.which("apt-get"):
        say(f"installing {len(wanted)} packages with apt-get")
        apt = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=3"]
        try:
            run([*apt, "update"])
            run([*apt, "install", "-y", "--no-install-recommends", *wanted])
        except subprocess.CalledProcessError:
            pass  # what counts is what is there now
        needed, nice = find_missing(purpose, compiler_needed=compiler_needed)
    if needed:
        raise MissingPackagesError(explain_missing(needed + nice))


def explain_missing(packages: Iterable[str]) -> str:
    """Return the sentence and the exact command for the user."""
    return (
        "Some system packages are missing. Nothing has been built yet. Install them, then run this again:\n\n"
        f"    sudo apt-get install {' '.join(packages)}\n"
    )


def _loads(soname: str) -> bool:
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def _has_font(patterns: Iterable[str], language: str | None = None) -> bool:
    if language and (fc_list := shutil.which("fc-list")):
        listing = subprocess.run([fc_list, f":lang={language}", "file"], capture_output=True, check=False)
        if listing.returncode == 0:
            return bool(listing.stdout.strip())
    folders = [Path(folder).expanduser() for folder in FONT_FOLDERS]
    return any(
        path.suffix.lower() in (".ttf", ".otf", ".ttc")
        for folder in folders
        for pattern in patterns
        for path in folder.rglob(pattern)
    )
