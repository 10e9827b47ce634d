#!/bin/sh
# Set-up, first part: find a Python that can carry the project, then hand over to set_up.py.
#
#   packaging/set-up.sh [run|test|bundle]     what the set-up is for; default: run
#
# Needs /bin/sh only. Every python3.13, .12, .11 and python3 on PATH is tried in that order, not just the first of
# a name: version managers leave launchers on PATH that fail for versions that were never installed. A Python
# serves if it runs, is 3.11 to 3.13, can make virtual environments and has its shared library (bundles need it).
# Exit codes: 0 done, 2 something to install first (the command is printed), 1 anything else.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)

# Prints "ok PATH", or what the Python lacks: "old 3.10", "venv 3.11", "libpython 3.11".
probe='
import os, sys, sysconfig
version = "%d.%d" % sys.version_info[:2]
if not (3, 11) <= sys.version_info[:2] < (3, 14):
    sys.exit(print("old", version))
try:
    import ensurepip, venv
    ensurepip.version()
except Exception:
    sys.exit(print("venv", version))
name = sysconfig.get_config_var("INSTSONAME") or ""
if sys.platform == "linux":
    folders = [sysconfig.get_config_var("LIBDIR") or "", os.path.join(sys.base_prefix, "lib")]
    folders += [os.path.join(f, sysconfig.get_config_var("MULTIARCH") or "") for f in folders]
    found = ".so" in name and any(os.path.exists(os.path.join(f, name)) for f in folders)
    if not found and ".so" in name:
        try:
            import ctypes
            found = bool(ctypes.CDLL(name))
        except (ImportError, OSError):
            pass
    if not found:
        sys.exit(print("libpython", version))
print("ok", getattr(sys, "_base_executable", "") or sys.executable)
'

python='' lacks=''
for name in python3.13 python3.12 python3.11 python3; do
    [ -z "$python" ] || break
    IFS=:
    for folder in ${PATH:-}; do
        unset IFS
        case $folder in '' | "$root/.venv/bin") continue ;; esac # the environment must not be made from itself
        [ -x "$folder/$name" ] || continue
        answer=$("$folder/$name" -c "$probe" 2>/dev/null </dev/null) || true
        case $answer in
            'ok '*)
                python=${answer#ok }
                break
                ;;
            'venv '* | 'libpython '*) lacks=${lacks:-$answer} ;; # the best candidate: the first one
        esac
    done
    unset IFS
done

if [ -z "$python" ]; then
    version=${lacks#* }
    case $lacks in
        venv*) what="Python $version is here, but it cannot make virtual environments." ;;
        libpython*) what="Python $version is here, but its shared library is missing." ;;
        *)
            what='Keepsake needs Python 3.11, 3.12 or 3.13, and none was found.'
            for version in 3.13 3.12 3.11 ''; do # the newest that apt offers
                [ -n "$version" ] || break
                case $(apt-cache policy "python$version" 2>/dev/null) in
                    *'Candidate: '[0-9]*) break ;;
                esac
            done
            ;;
    esac
    if [ -n "$version" ]; then
        packages="python$version python$version-venv libpython$version"
    else
        packages='python3 python3-venv libpython3-dev'
    fi
    printf '%s Install it, then run this again:\n\n    sudo apt-get install %s\n\n' "$what" "$packages" >&2
    exit 2
fi

exec "$python" -I "$root/packaging/set_up.py" "$@"
