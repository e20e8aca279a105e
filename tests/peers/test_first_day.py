#!/usr/bin/env python3
"""The first day of somebody who has nothing but README.md: ten and more journeys to the first explained recommendation, by the README's own lines, with
the typical mistakes on the way, each of which says what mends it (first_day/README.md).

    test_first_day.py                       those from source
    test_first_day.py --list                the table of all
    test_first_day.py --packages DEBIAN DEBS    those with the packages, on a Debian in a folder, which stays as it is; in a mount namespace of its own
    test_first_day.py --container IMAGE     those in a container

test_packages.py, which builds packages and image, starts the last two.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import at_once  # noqa: E402
from first_day import from_source, in_container, packaged  # noqa: E402, F401
from first_day.journey import JOURNEYS  # noqa: E402
from first_day.readme import LINES_NOT_RUN, NOT_RUN, README, blocks_of, commands, is_run  # noqa: E402

HEAD = "| journey | who | by | back end | mistakes |\n|---|---|---|---|---|\n"


def table():
    return HEAD + "".join(j.row() + "\n" for j in JOURNEYS)


def test_every_block():
    """Each block of the README is run by a journey, or named as not run; what is named is there."""
    blocks = blocks_of(README)
    run = {name for j in JOURNEYS for name in j.blocks}
    left = [name for name in blocks if name not in run and name not in NOT_RUN]
    assert not left, f"no journey runs these blocks of README.md: {left}"
    assert not [name for name in NOT_RUN if name not in blocks or name in run], "readme.py names a block as not run that is not there, or is run"
    for j in JOURNEYS:
        assert all(name in j.known for name in j.blocks), (j.name, j.blocks)
    assert all(any(re.match(pattern, line) for block in j.known.values() for line in block) for pattern in LINES_NOT_RUN), "a line is not there"
    assert is_run("ballast status") and commands(["a \\", "b", "# c"]) == ["a b"]


def test_list():
    """Ten journeys and more, over each back end, way and user; the README of the folder has the list."""
    assert len(JOURNEYS) >= 10
    assert {j.who for j in JOURNEYS} == {"root", "member", "neither"} and {j.by for j in JOURNEYS} == {"source", "package", "container"}
    assert {j.back_end for j in JOURNEYS} >= {"simulated", "vSphere", "libvirt", "Proxmox VE"}
    assert all(j.mistakes for j in JOURNEYS)
    assert table() in (README.parent / "tests/peers/first_day/README.md").read_text(), "make the table anew: tests/peers/test_first_day.py --list"


def of(by, *arguments):
    return [(j.name, lambda j=j: j.run(*arguments)) for j in JOURNEYS if j.by == by]


def main():
    if sys.argv[1:2] == ["--list"]:
        print(table(), end="")
        return 0
    if sys.argv[1:2] == ["--packages"]:
        return packaged.with_installed(sys.argv[2], sys.argv[3], lambda debian: at_once(of("package", debian)))
    if sys.argv[1:2] == ["--container"]:
        return at_once(of("container", sys.argv[2]))
    wanted = [t for t in [("every block", test_every_block), ("list", test_list), *of("source")] if not sys.argv[1:] or t[0] in sys.argv[1:]]
    if os.geteuid() == 0:
        import lab  # noqa: F401  a network of this test's own
    return at_once(wanted)


if __name__ == "__main__":
    sys.exit(main())
