"""readme.py: the fenced blocks of a README under their headings, read when the test runs.

    blocks = blocks_of(path)            # {"First steps 2": [line, ...], ...}: the second block under that heading
"""
import pathlib
import re

TOP = pathlib.Path(__file__).resolve().parents[3]
README = TOP / "README.md"
PACKAGING = TOP / "packaging/README.md"

# Blocks that no journey runs, and why. Every other block of README.md belongs to a journey.
NOT_RUN = {
    "See it work 1": "the demo: tests/cli/demo.py runs it as it is written",
    "See it work 2": "the same with loads that change: tests/cli/demo.py",
    "Test it 1": "it runs this test, among all others",
    "The tree 1": "a picture",
}
# Lines of blocks that are run, which are not run here, and why.
LINES_NOT_RUN = {
    r"\./packaging/need ": "the packages of Debian are there: installing takes as long as the network does",
    r"\./packaging/demo ": "builds what the test was started with; tests/cli/demo.py runs it",
    r"meson setup build ": "the programs are those that the test was started with",
    r"\./packaging/deb |packaging/oci ": "tests/peers/test_packages.py has built the packages and the image, and starts these journeys",
}


def blocks_of(path):
    ret, heading, number, block = {}, None, 0, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if block is None and line.startswith("#"):
            heading, number = line.lstrip("# "), 0
        elif line.startswith("```"):
            if block is not None:
                ret[f"{heading} {number}"], block = block, None
            else:
                number, block = number + 1, []
        elif block is not None:
            block.append(line)
    return ret


def is_run(line):
    return line.strip() and not line.lstrip().startswith("#") and not any(re.match(pattern, line) for pattern in LINES_NOT_RUN)


def commands(block):
    """The lines to be typed, without comments, those that go on joined."""
    return [re.sub(r"\s+# .*", "", line) for line in "\n".join(block).replace("\\\n", "").splitlines() if is_run(line)]
