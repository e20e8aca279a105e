"""journey.py: a journey, the list of all, and what each of them must show.

    @journey("simulated cluster from source", who="neither", by="source", back_end="simulated", blocks=[...], mistakes=[...])
    def simulated(j): ...
"""
import re
import time

from daemon import wait_for

from .readme import PACKAGING, README, blocks_of, commands

LIMIT_S = 240  # to the first explained recommendation, of ten minutes; a quiet machine needs a few seconds of them
EXPLAINED = r"moves from .*(because|to balance)"
JOURNEYS = []


def journey(name, **what):
    def add(function):
        JOURNEYS.append(Journey(name, function, **what))
        return function
    return add


def in_one_line(text):
    return " ".join(text.split())


def first_problem(text):
    """That of `check-config --connect`, with what is to be done."""
    return re.search(r"^  PROBLEM .*?(?=\n  \S|\n\n)", text, re.M | re.S)[0]


class Journey:
    def __init__(self, name, function, who, by, back_end, blocks, mistakes):
        self.name, self.function, self.who, self.by, self.back_end, self.blocks, self.mistakes = name, function, who, by, back_end, blocks, mistakes
        self.followed, self.made, self.seconds, self.known = [], {}, None, {**blocks_of(PACKAGING), **blocks_of(README)}

    def row(self):
        return f"| {self.name} | {self.who} | {self.by} | {self.back_end} | {', '.join(self.mistakes)} |"

    def block(self, name):
        self.followed.append(name)
        return self.known[name]

    def follow(self, name, terminal, typed=None):
        """Types the lines of the block in that terminal; gives what the last one printed. typed: {part of a line: what is typed while it runs}."""
        said = ""
        for line in commands(self.block(name)):
            stdin = next((text for part, text in (typed or {}).items() if part in line), "")
            said = terminal.type(line, stdin=stdin)
        return said

    def mistake(self, name, said, *words):
        """The sentence that the mistake ends in: it has these words, which name the thing, and what mends it. The journey goes on by doing that."""
        sentence = in_one_line(said)
        missing = [word for word in words if word not in sentence]
        assert not missing and len(words) > 1, f"{self.name}: {name}: {missing} is not in: {sentence}"
        self.made[name] = sentence
        return sentence

    def is_explained(self, terminal):
        """The first recommendation with its reason, and the explanation of its VM. Gives its number and its VM."""
        def shown():
            return re.search(r"^ *(\d+) [^\n]* migrate +(\S+) .*?" + EXPLAINED, terminal.type("ballast recommendations", code=None), re.M | re.S)
        found = wait_for("the first recommendation", shown)
        # a service that was started again shows what it has recommended before it has read the cluster
        said = wait_for("the cluster is read", lambda: (text := in_one_line(terminal.type(f"ballast explain --vm {found[2]}", code=None))) and
                        "not been read yet" not in text and text)
        assert re.search(rf"^{re.escape(found[2])} .*(moves|stays)", said), said
        self.arrived()
        return found[1], found[2]

    def arrived(self):
        self.seconds = time.monotonic() - self.began

    def run(self, *arguments):
        self.began = time.monotonic()
        self.function(self, *arguments)
        assert set(self.followed) == set(self.blocks), f"{self.name}: followed {self.followed}, expected {self.blocks}"
        assert list(self.made) == self.mistakes, f"{self.name}: made {list(self.made)}, expected {self.mistakes}"
        assert self.seconds is not None and self.seconds < LIMIT_S, f"{self.name}: {self.seconds} s"
        print(f"{self.name}: explained after {self.seconds:.0f} s")
        for name, sentence in self.made.items():
            print(f"    {name}: {sentence}")
        print(end="", flush=True)
