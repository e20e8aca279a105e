#!/usr/bin/env python3
"""An admin sets the clock while ballastd runs: windows follow the new time of day, and nothing is lost."""
import contextlib
import datetime
import os
import sqlite3
import time

from daemon import Daemon, main, wait_for

HOUR_S = 3600
SHIM = os.environ.get("BALLAST_CLOCK_SHIM", "build/tests/peers/libclock_shim.so")


def hour(t):
    """A window of two hours in which that instant is the middle."""
    begins = datetime.datetime.fromtimestamp(t, datetime.timezone.utc) - datetime.timedelta(hours=1)
    return f"{begins:%H:%M} for 2h"


class Clock:
    """Of a ballastd that is begun within."""

    def __init__(self, d):
        self.file = d.folder / "clock"
        self.set(0)
        d.environment |= {"LD_PRELOAD": SHIM, "CLOCK_SHIM_FILE": str(self.file)}

    def set(self, by_s):
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{by_s}\n")
        fresh.replace(self.file)


def now():
    return datetime.datetime.now(datetime.timezone.utc).timestamp()


def begin(**settings):
    window = [hour(now() + 3 * HOUR_S)]
    d = Daemon({"kind": "sim", "speed": 50}, interval_s=2, automation="manual",
               dpm={"enabled": True, "windows": window, "time_zone": "UTC"}, **settings)
    clock = Clock(d)
    d.start()
    return d, clock


def power_off(d):
    done = d.request({"command": "schedule", "limit": 1})
    return done["schedule"]["power_off"]


def test_set():
    """Forward into a window, back before it, and a little, which does not matter."""
    d, clock = begin()
    with d:
        pid = d.process.pid
        d.cli("pause")
        assert power_off(d) is False
        for by, opens in ((3 * HOUR_S, True), (0, False)):
            clock.set(by)
            wait_for("the window", lambda: power_off_or_none(d) is opens, 30)
            time = datetime.datetime.fromisoformat(d.request({"command": "schedule"})["schedule"]["now"].replace("Z", "+00:00"))
            assert abs(time.timestamp() - now() - by) < 30, time
            assert d.process.poll() is None and d.process.pid == pid and d.status()["frozen"]
        text = d.log.read_text()
        assert text.count("restarting the service") == 2 and "was set by 10800 s" in text and "was set by -10800 s" in text, text
        clock.set(5)
        d.cli("run")
        d.cli("run")
        assert d.log.read_text().count("restarting the service") == 2
        d.stop()


def test_wrong_for_a_moment():
    """Forty days ahead for ten seconds: nothing is taken for too old, in whatever table."""
    d, clock = begin(history={"days": 30})
    with d:
        d.cli("pause")
        d.cli("resume")
        wait_for("a pass", lambda: d.status()["pass"])

        def kept():
            with contextlib.closing(sqlite3.connect(d.folder / "state" / "ballast.db", timeout=30)) as db:
                return {table: {row[0] for row in db.execute(f"SELECT {key} FROM {table}")} for table, key in (
                    ("events", "id"), ("actions", "id"), ("migrations", "id"), ("passes", "id"), ("hosts", "host"), ("samples", "time"),
                    ("looks", "time"), ("energy", "time"), ("patterns", "time"))}

        before = kept()
        assert len(before["events"]) > 3 and before["samples"], before
        for by in (40 * 24 * HOUR_S, 0):
            restarts = d.log.read_text().count("restarting the service")
            clock.set(by)
            wait_for("the restart", lambda: d.log.read_text().count("restarting the service") > restarts, 30)
            wait_for("a pass", lambda: (status_or_none(d) or {}).get("pass"), 30)
            time.sleep(5)
        after = kept()
        for table, rows in before.items():
            assert rows <= after[table], (table, rows - after[table])
        d.kill()
        clock.set(40 * 24 * HOUR_S)  # and from the start, as of a machine without a battery
        d.start()
        wait_for("a pass", lambda: d.status()["pass"], 30)
        clock.set(0)
        time.sleep(5)
        wait_for("a pass", lambda: (status_or_none(d) or {}).get("pass"), 30)
        assert before["events"] <= kept()["events"] and before["actions"] <= kept()["actions"]
        d.stop()


def status_or_none(d):
    try:
        return d.status()
    except (OSError, TypeError, AssertionError):  # it restarts
        return None


def power_off_or_none(d):
    """While it begins anew nobody answers."""
    try:
        return power_off(d)
    except (OSError, TypeError, AssertionError):  # it restarts
        return None


def test_set_while_the_configuration_is_wrong():
    """It would not come back: it keeps the old time and logs that, until it can restart."""
    d, clock = begin()
    with d:
        good = d.config.read_text()
        d.config.write_text(good + "nonsense: 1\n")
        clock.set(3 * HOUR_S)
        wait_for("it is said", lambda: "keeps the time from before" in d.log.read_text(), 30)
        assert power_off(d) is False
        d.config.write_text(good)
        wait_for("the window", lambda: power_off_or_none(d) is True, 30)
        d.stop()


def test_set_while_a_host_cannot_be_switched():
    """What the methods refuse, and no reader of the configuration does, would end the service just as well."""
    d, clock = begin()
    with d:
        good = d.config.read_text()
        secret = d.folder / "secret"
        secret.write_text("secret\n")
        secret.chmod(0o600)
        d.write(power={"hosts": {"h0": {"ipmi": {"address": "127.0.0.1", "username": "a" * 17, "password_file": str(secret)}}}})
        clock.set(3 * HOUR_S)
        wait_for("it is said", lambda: "keeps the time from before" in d.log.read_text(), 30)
        assert "a username has at most 16 bytes" in d.log.read_text() and power_off(d) is False
        d.config.write_text(good)
        wait_for("the window", lambda: power_off_or_none(d) is True, 30)
        d.stop()


if __name__ == "__main__":
    main(test_set, test_wrong_for_a_moment, test_set_while_the_configuration_is_wrong, test_set_while_a_host_cannot_be_switched)
