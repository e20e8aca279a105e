"""at_once.py: tests that mostly wait for somebody, side by side.

    at_once([("name", function), …])        # or sys.exit(run_tests(globals())) for all that are called test_…

Each function must have its peers, folders and processes to itself, and fails by what it raises.
"""
import os
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

SIDE_BY_SIDE = 2 if os.environ.get("BALLAST_TEST_SLOW") else 6  # there they do not wait but compute


def passes(name, test):
    began = time.monotonic()
    try:
        test()
    except Exception:  # whatever it is, the others go on
        print(f"FAILED {name}:\n{traceback.format_exc()}", flush=True)
        return False
    print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    return True


def at_once(tests):
    """tests: (name, function without arguments). True if all of them passed."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        return all(list(pool.map(lambda test: passes(*test), tests)))


def run_tests(names):
    """names: the globals() of a script. What is called test_… in them is run, in the order in which it stands there; gives the
    exit code."""
    return 0 if at_once([(name, test) for name, test in names.items() if name.startswith("test_")]) else 1
