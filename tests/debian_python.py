"""debian_python.py: the Python of Debian, for a test that needs modules of Debian's packages.

    debian_python.need("jsonschema")    # before anything that imports it

Where another Python runs, which lacks one, the script begins anew in Debian's; where that lacks one too, the test is skipped.
"""
import importlib.util
import os
import sys

PYTHON = "/usr/bin/python3"


def need(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    if not missing:
        return
    if sys.executable != PYTHON and os.path.exists(PYTHON) and not os.environ.get("BALLAST_SYSTEM_PYTHON"):
        os.execve(PYTHON, [PYTHON, *sys.argv], {**os.environ, "BALLAST_SYSTEM_PYTHON": "1"})
    print(f"skipped: the Python module {missing[0]} is missing (packaging/need tests)")
    sys.exit(77)
