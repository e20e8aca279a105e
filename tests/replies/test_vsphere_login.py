#!/usr/bin/env python3
"""The vSphere collector's login, and its choice of a cluster, against answers made by hand."""
import pathlib
import re
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "peers")]
import server as made  # noqa: E402
from at_once import run_tests  # noqa: E402
from probe import Probe  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="ballast-replies-")
PASSWORD_FILE = pathlib.Path(FOLDER.name) / "password"
PASSWORD_FILE.write_text(made.PASSWORD + "\n")
CLUSTER = "Prod/East"


def probe(s, **more):
    return Probe(**{"url": s.url, "username": made.USERNAME, "password_file": PASSWORD_FILE, "cluster": CLUSTER,
                    "timeout_s": 100, **more})


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


LABS = "/Europe/Berlin/host/Lab, /Europe/Oslo/host/Lab"


def test_choosing_a_cluster():
    """By name, by path or by id; two clusters of one name are told apart by their paths."""
    all_of_them = "/Europe/Berlin/host/Prod%2fEast, " + LABS
    cases = ((None, "EINVAL", f"there are several clusters: give the path of one of them as source.cluster ({all_of_them})"),
             ("Nowhere", "ENOENT", f"no cluster Nowhere that this user may see (there are: {all_of_them})"),
             ("/Europe/Oslo/host/Prod%2fEast", "ENOENT", all_of_them),
             ("domain-c77", "ENOENT", f"no cluster domain-c77 that this user may see (there are: {all_of_them})"),
             ("Lab", "EINVAL", f"several clusters have this name: give the path of one of them as source.cluster ({LABS})"))
    for name, error, text in cases:
        with made.Server() as s, probe(s, cluster=name) as p:
            bad = p("collect")
            equal(f"cluster {name}", bad["error"], error)
            assert text in bad["text"], bad
    for name, reads in ((CLUSTER, ["group-d1", "domain-c8"]), ("/Europe/Berlin/host/Prod%2fEast", ["group-d1", "domain-c8"]),
                        ("domain-c8", ["domain-c8"]), ("/Europe/Oslo/host/Lab", ["group-d1", "domain-c10"])):
        with made.Server() as s, probe(s, cluster=name, stats="quick") as p:
            got = p("collect")
            if reads[-1] == "domain-c8":
                equal(f"cluster {name}", got.get("cluster"), CLUSTER)
            begun = [re.search(r'<obj type="\w+">([^<]*)</obj>', b).group(1) for b in s.bodies if "<RetrievePropertiesEx" in b]
            equal(f"reads of {name}", begun[:len(reads)], reads)  # an id takes no right to read the folders above


def test_wrong_password():
    wrong = pathlib.Path(FOLDER.name) / "wrong"
    wrong.write_text("hunter2-is-wrong\n")
    with made.Server() as s, probe(s, password_file=wrong) as p:
        bad = p("collect")
        equal("error", bad["error"], "EACCES")
        assert "user name or password are wrong" in bad["text"] and made.USERNAME in bad["text"], bad
        for leak in (bad["text"], p.close()):
            assert "hunter2" not in leak, leak


def test_password_changes():
    """A refused password is not sent again by anybody, however often it is asked; a changed file is tried at once."""
    file = pathlib.Path(FOLDER.name) / "rotated"
    file.write_text("hunter2-is-wrong\n")
    with made.Server() as s, probe(s, password_file=file, stats="quick") as p:
        for words in (("collect",), ("collect",), ("poll", "task-1"), ("collect",)):
            bad = p(*words)
            equal(f"{words}", bad["error"], "EACCES")
            assert "the next try is in 1 min, or once password_file has changed" in bad["text"], bad
        equal("logins", s.calls.count("Login"), 1)
        file.write_text("wrong-again\n")
        assert "the next try is in 2 min" in p("collect")["text"]
        file.write_text(made.PASSWORD + "\n")
        assert p("collect")["ok"]
        equal("logins", s.calls.count("Login"), 3)

        # the running session does not care; the next login reads the file
        file.write_text("hunter2-is-wrong\n")
        assert p("collect")["ok"]
        s.expire()
        equal("after the session", p("collect")["error"], "EACCES")
        file.unlink()  # between two versions of it: what was read at the start is used, here the first wrong one
        equal("without a file", p("collect")["error"], "EACCES")
        file.write_text(made.PASSWORD + "\n")
        assert p("collect")["ok"]
        log = p.close()
        assert "rotated cannot be opened" in log and "hunter2" not in log, log


if __name__ == "__main__":
    code = run_tests(globals())
    FOLDER.cleanup()
    sys.exit(code)
