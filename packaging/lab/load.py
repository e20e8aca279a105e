"""load.py: load profiles: which guests do how much, as a small text. Files of profiles/ are those that come with the lab.

    # comment
    all: cpu 2 mem 8                      # every guest
    hosts 1-2: cpu 35 mem 24 dirty 400    # the guests that run on hv1 and hv2 right now
    vms 3,7-9: dirty 1000000

cpu is in percent of a host's capacity, mem in MiB in use, dirty in KiB rewritten a second. What a line leaves out is 0. A guest does
what the last line says that names it; a guest that no line names is idle.
"""
import pathlib
import re

from network import Refused

PROFILES = pathlib.Path(__file__).resolve().parent / "profiles"
LIMITS = {"cpu": 1000, "mem": 1 << 20, "dirty": 1 << 23}


def names():
    return sorted(path.stem for path in PROFILES.glob("*.load"))


def read(name):
    """The text of a profile: one of profiles/, or a file."""
    path = PROFILES / f"{name}.load" if name in names() else pathlib.Path(name)
    try:
        return path.read_text()
    except OSError as e:
        raise Refused(f"there is no profile {name}, and no such file; profiles: {', '.join(names())}") from e


def numbers(text, where):
    """The numbers of "1-2,5"."""
    ret = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match or int(match[2] or match[1]) > 100000:
            raise Refused(f"{where}: \"{text}\" is no list of numbers like 1-2,5")
        ret.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return ret


def parse(text, name="profile"):
    """[(kind, numbers, load), ...]; kind is all, hosts or vms."""
    ret = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        where = f"{name}, line {number}"
        if not line:
            continue
        selector, colon, rest = line.partition(":")
        kind, _, which = selector.strip().partition(" ")
        if not colon or kind not in ("all", "hosts", "vms") or (kind == "all") != (not which.strip()):
            raise Refused(f"{where}: begins with neither \"all:\" nor \"hosts N-M:\" nor \"vms N-M:\"")
        words = rest.split()
        load = dict.fromkeys(LIMITS, 0)
        for key, value in zip(words[::2], words[1::2]):
            if key not in LIMITS or not value.isdecimal() or int(value) > LIMITS[key]:
                raise Refused(f"{where}: \"{key} {value}\" is none of " + ", ".join(f"{k} 0-{most}" for k, most in LIMITS.items()))
            load[key] = int(value)
        if len(words) % 2:
            raise Refused(f"{where}: \"{words[-1]}\" has no value")
        ret.append((kind, numbers(which, where) if which else set(), load))
    if not ret:
        raise Refused(f"{name}: sets no load")
    return ret


def apply(entries, guests, host_numbers, percent):
    """Sets what each guest wants. host_numbers: of the host that each runs on, by the guest's name; percent: of a CPU, a host's."""
    for guest in guests:
        wanted = dict.fromkeys(LIMITS, 0)
        for kind, which, load in entries:
            if kind == "all" or kind == "vms" and guest.number in which or kind == "hosts" and host_numbers.get(guest.name) in which:
                wanted = load
        guest.wanted = {**wanted, "cpu": min(100, round(wanted["cpu"] * percent / 100))}
