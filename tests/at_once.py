"""at_once.py: runs tests that mostly wait in parallel.

    at_once([("name", function), …])        # or sys.exit(run_tests(globals())) for all functions named test_…

Each function must have its own peers, folders and processes, and fails by raising an exception; Skip if a peer is not installed.
"""
import os
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

PASSED, FAILED, SKIPPED = 0, 1, 77  # exit codes
SIDE_BY_SIDE = 2 if os.environ.get("BALLAST_TEST_SLOW") else 6  # there they do not wait but compute




PAUSE_LEAST_S, PAUSE_MOST_S, PAUSE_PART = 0.2, 0.6, 0.1


def pause_since(began, every=None):
    """Between two looks at what is waited for since `began` (monotonic). To ask is work, too: who waits long asks less often, but for what does
    not stay, which needs an `every`, in seconds."""
    time.sleep(every or max(PAUSE_LEAST_S, min(PAUSE_MOST_S, PAUSE_PART * (time.monotonic() - began))))


class Skip(Exception):
    """The peer cannot be had on this machine."""


def outcome(name, test):
    began = time.monotonic()
    try:
        test()
    except Skip as e:
        print(f"SKIPPED {name}: {e}", flush=True)
        return SKIPPED
    except Exception:  # whatever it is, the others go on
        print(f"FAILED {name}:\n{traceback.format_exc()}", flush=True)
        return FAILED
    print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    return PASSED


def at_once(tests):
    """tests: (name, function without arguments). The exit code of all of them."""
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        outcomes = set(pool.map(lambda test: outcome(*test), tests))
    return FAILED if FAILED in outcomes else SKIPPED if SKIPPED in outcomes else PASSED


def within(lab, test):
    """The test with a lab of its own, where it takes one."""
    def run():
        if not test.__code__.co_argcount:
            test()
        else:
            with lab() as own:
                test(own)
    return run


def run_tests(names, lab=None):
    """names: the globals() of a script. The functions called test_… are run, in the order in which they stand there, or those that the
    command line names; gives the exit code."""
    tests = {name: test for name, test in names.items() if name.startswith("test_")}
    unknown = [name for name in sys.argv[1:] if name not in tests]
    if unknown:
        print(f"no such test: {', '.join(unknown)}; there are {', '.join(tests)}", file=sys.stderr)
        return FAILED
    return at_once([(name, within(lab, test)) for name, test in tests.items() if name in (sys.argv[1:] or tests)])
