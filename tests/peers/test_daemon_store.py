#!/usr/bin/env python3
"""The store of a running service: copied, restored, deleted under it; and a second service for the same cluster."""
import contextlib
import json
import os
import shutil
import sqlite3
import stat
import subprocess
import threading
import time

from daemon import BALLAST, SIM, Daemon, main, wait_for

EAGER = {"interval_s": 5, "migration_threshold": 4, "cool_down_s": 60}


def backup(d, file, *options):
    return subprocess.run([BALLAST, "backup", str(file), "--config", str(d.config), *options], capture_output=True, text=True,
                          timeout=120)


def name_of(database):
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        return db.execute("SELECT name FROM instance").fetchone()[0]


def restore(d, file):
    """As ballastd(8) says."""
    state = d.folder / "state"
    for old in state.glob("ballast.db*"):
        old.unlink()
    shutil.copyfile(file, state / "ballast.db")
    (state / "ballast.db").chmod(0o600)


def test_a_copy_is_restored():
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        wait_for("recommendations", lambda: d.actions("recommended"))
        moved = d.decide("apply", lambda a: not a["depends_on"])
        wait_for("the move", lambda: any(a["id"] == moved["id"] for a in d.actions("done")))
        rejected = d.decide("reject", lambda a: not a["depends_on"])
        d.cli("pause")
        copy = d.folder / "copy.db"
        done = backup(d, copy)
        assert done.returncode == 0 and str(copy) in done.stdout, done
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert not list(d.folder.glob("copy.db?*")), "no log and no temporary file beside it"
        events = d.json("events", "--since", "2020-01-01")
        known = {a["id"] for a in d.actions() + d.json("history")}
        d.cli("resume")  # after the copy
        # not overwritten unless asked for
        before = copy.stat().st_mtime_ns
        again = backup(d, copy)
        assert again.returncode == 2 and "--force" in again.stderr and copy.stat().st_mtime_ns == before, again
        other = d.folder / "other.db"
        other.write_text("mine")
        assert backup(d, other, "--force").returncode == 0 and other.stat().st_size > 4096
        # and never what is no earlier copy
        store, link, pipe = d.folder / "state" / "ballast.db", d.folder / "link", d.folder / "pipe"
        inode = store.stat().st_ino
        link.symlink_to(other)
        os.mkfifo(pipe)
        for file, said in ((store, "the store itself"), (link, "not a regular file"), (pipe, "not a regular file"), ("", "empty")):
            done = backup(d, file, "--force")
            assert done.returncode == 2 and said in done.stderr, done
        assert store.stat().st_ino == inode and link.is_symlink() and pipe.is_fifo()
        original = name_of(d.folder / "state" / "ballast.db")
        assert len({original, name_of(copy), name_of(other)}) == 3, "each copy has a name of its own"
        d.stop()
        shutil.rmtree(d.folder / "state")
        (d.folder / "state").mkdir(mode=0o700)
        restore(d, copy)
        d.start()
        status = d.status()
        assert status["frozen"] and "uid" in status["frozen_by"]
        assert any("the store is a copy, or older" in s and "tokens that were revoked" in s for s in status["configuration"]), status
        history = {a["id"]: a for a in d.json("history")}
        assert history[moved["id"]]["state"] == "done" and history[moved["id"]]["approved_by"] == status["frozen_by"]
        assert history[rejected["id"]]["state"] == "rejected"
        restored = d.json("events", "--since", "2020-01-01")
        assert [e["id"] for e in restored[:len(events)]] == [e["id"] for e in events]
        assert "rejected" in d.cli("apply", rejected["id"], code=1) or "paused" in d.cli("apply", rejected["id"], code=1)
        d.cli("resume")
        d.cli("run")
        assert not d.status()["configuration"]
        for a in d.actions("recommended"):
            if a["id"] not in known:
                assert not a["uid"].startswith(original), (a, original)
        d.stop()
        d.start()
        assert not d.status()["frozen"]
        d.stop()


def test_copies_while_it_writes():
    """Each copy is sound, and the service goes on."""
    with Daemon({**SIM, "speed": 500}, automation="full", cost_benefit=False, **EAGER | {"interval_s": 5}).start() as d:
        wait_for("a pass", lambda: d.status()["pass"])
        stop = threading.Event()

        def work():
            while not stop.is_set():
                d.run("pause")
                d.run("run")
                d.run("resume")

        worker = threading.Thread(target=work)
        worker.start()
        try:
            for i in range(20):
                copy = d.folder / f"copy-{i}.db"
                done = backup(d, copy)
                assert done.returncode == 0, done
                with contextlib.closing(sqlite3.connect(copy)) as db:
                    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        finally:
            stop.set()
            worker.join()
        assert d.status()["store_error"] is None
        d.stop()
        assert backup(d, d.folder / "stopped.db").returncode == 0  # without a service, too


def test_what_cannot_be_copied():
    with Daemon(SIM, automation="manual", **EAGER) as d:
        assert backup(d, d.folder / "x.db").returncode == 1  # no store yet
        d.start()
        d.stop()
        assert "cannot be written" in backup(d, d.folder / "nowhere" / "x.db").stderr
        database = d.folder / "state" / "ballast.db"
        with contextlib.closing(sqlite3.connect(database)) as db:
            db.executescript("PRAGMA application_id = 7")
        done = backup(d, d.folder / "x.db")
        assert done.returncode == 1 and "another program" in done.stderr, done
        database.write_bytes(b"")
        done = backup(d, d.folder / "x.db")
        assert done.returncode == 1 and "empty" in done.stderr, done
        assert not list(d.folder.glob("x.db*"))
        done = subprocess.run([BALLAST, "backup", str(d.folder / "x.db"), "--config", "/nowhere"], capture_output=True)
        assert done.returncode == 2


def test_files_deleted_under_it():
    """It is told, nothing new is started, and a restart ends it."""
    for name in ("ballast.db", "lock"):
        with Daemon(SIM, automation="manual", **EAGER).start() as d:
            wait_for("recommendations", lambda: d.actions("recommended"))
            file = d.folder / "state" / name
            kept = d.folder / "kept"
            file.rename(kept)
            wait_for("the fault", lambda: d.status()["store_error"], 30)
            assert f"{name} was deleted or replaced" in d.status()["store_error"]
            assert "was deleted or replaced" in " ".join(d.cli("status").split())
            assert "storing_failed" in d.log.read_text()
            chosen = next(a for a in d.actions("recommended") if not a["depends_on"])
            assert "could not be stored" in d.cli("apply", f'{chosen["id"]}.{chosen["version"]}', code=1)
            time.sleep(8)
            assert not d.actions("starting", "running", "verifying", "done")
            kept.rename(file)  # put back: it goes on, with nothing lost
            wait_for("the end of the fault", lambda: not d.status()["store_error"], 30)
            wait_for("the move", lambda: any(a["id"] == chosen["id"] for a in d.actions("done", "cancelled")), 60)
            file.unlink()
            wait_for("the fault", lambda: d.status()["store_error"], 30)
            d.stop()
            d.start()
            status = d.status()
            assert status["store_error"] is None
            # without the database it remembers nothing, and knows that
            assert status["frozen"] is (name == "ballast.db") and len(status["configuration"]) == status["frozen"], status
            d.stop()


def test_log_deleted_under_it():
    """What was answered survives a kill."""
    for name in ("ballast.db-wal", "ballast.db-shm"):
        with Daemon(SIM, automation="manual", **EAGER).start() as d:
            wait_for("a pass", lambda: d.status()["pass"])
            (d.folder / "state" / name).unlink()
            d.cli("pause")
            assert d.status()["store_error"] is None and "nothing was lost" in d.log.read_text()
            d.kill()
            d.start()
            assert d.status()["frozen"] and not d.status()["configuration"]
            d.cli("resume")
            d.stop()


def test_shortened_under_it():
    """The service says so at once, begins nothing, and starts paused: it has lost something."""
    for name in ("ballast.db-wal", "ballast.db"):
        for size in (0, 5000):
            with Daemon(SIM, automation="manual", **EAGER).start() as d:
                wait_for("recommendations", lambda: d.actions("recommended"))
                file = d.folder / "state" / name
                if name == "ballast.db":
                    d.stop()  # which brings everything into it
                    d.start()
                    wait_for("recommendations", lambda: d.actions("recommended"))
                assert file.stat().st_size > size
                os.truncate(file, size)
                assert "was shortened" in d.run("pause").stderr
                assert "was shortened" in d.status()["store_error"]
                d.run("resume")
                chosen = next(a for a in d.actions("recommended") if not a["depends_on"])
                assert "could not be stored" in d.cli("apply", f'{chosen["id"]}.{chosen["version"]}', code=1)
                time.sleep(3)
                assert not d.actions("starting", "running", "verifying", "done")
                d.kill()
                try:
                    d.start()
                except AssertionError as e:  # what is left of the database is none: it begins nothing at all
                    assert name == "ballast.db" and str(e) == "ballastd ended with 1", e
                    continue
                status = d.status()
                assert status["frozen"] and status["frozen_by"] == "ballastd" and "the store is a copy, or older" in status["configuration"][0], status
                d.cli("resume")
                d.stop()


def test_copies_of_a_folder():
    """Moved, it is the same store; copied, it is another one, wherever the copy is."""
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        wait_for("a pass", lambda: d.status()["pass"])
        d.stop()
        (d.folder / "state").rename(d.folder / "moved")
        d.write(state_dir=str(d.folder / "moved"))
        d.start()
        assert not d.status()["frozen"]
        d.stop()
        shutil.copytree(d.folder / "moved", d.folder / "state")
        (d.folder / "state").chmod(0o700)
        d.write(state_dir=str(d.folder / "state"))
        d.start()
        said = " ".join(d.cli("status").split())
        assert d.status()["frozen"] and "the store is a copy, or older than the one before it" in said, said
        assert any(e["kind"] == "frozen" and e["data"]["by"] == "ballastd" for e in d.json("events", "--since", "0"))
        d.stop()


def test_too_small():
    """What must be kept is larger than history.store_mb: status and check say so, and no action is lost."""
    def ids():
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
            return {row[0] for row in db.execute("SELECT id FROM actions WHERE state NOT IN ('recommended', 'expired')")}

    def words(*arguments, code=0):
        return " ".join((d.cli(*arguments) if code == 0 else d.run(*arguments).stdout).split())

    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        database = d.folder / "state" / "ballast.db"
        wait_for("a look", lambda: d.json("samples"))
        store = d.status()["store"]
        assert 0 < store["used_bytes"] < 16 << 20 and store["limit_bytes"] == 4096 << 20 and not store["warning"], store
        assert f'store size {-(-store["used_bytes"] // (1 << 20))} MiB of at most 4096' in words("status"), words("status")
        assert d.run("check").returncode == 0, d.run("check")
        chosen = d.decide("apply", lambda a: not a["depends_on"])
        wait_for("its end", lambda: chosen["id"] in {a["id"] for a in d.json("history")}, 120)
        d.stop()
        with contextlib.closing(sqlite3.connect(database)) as db:
            columns = [c[1] for c in db.execute("PRAGMA table_info(actions)") if c[1] not in ("id", "uid", "why")]
            db.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO actions "
                       f"(id, uid, why, {','.join(columns)}) SELECT 100000 + i, 'made-' || i, hex(zeroblob(20000)), {','.join(columns)} "
                       f"FROM actions, n WHERE id = {chosen['id']}")
            db.commit()
        before = ids()
        assert len(before) > 500
        d.write(history={"store_mb": 16})
        d.start()
        wait_for("the warning", lambda: d.status()["store"]["warning"])
        said = d.status()["store"]["warning"]
        assert said.startswith("history.store_mb is too small for this cluster: with 16 MiB, passes and figures over time go back"), said
        assert said in words("status"), words("status")
        assert d.run("check").returncode == 1 and said in words("check", code=1), d.run("check")
        chosen = d.decide("apply", lambda a: not a["depends_on"])
        wait_for("its end", lambda: chosen["id"] in {a["id"] for a in d.json("history")}, 120)
        assert ids() >= before | {chosen["id"]}
        d.stop()


def test_a_setting_that_allows_more_since_an_upgrade():
    """Until a person confirms it, all memory that a VM has consumed must be free on its destination."""
    def kept():
        vms = json.loads(d.cli("snapshot"))["vms"]
        return all(v["mem"].get("no_reclaim") for v in vms if v["state"] == "on")

    with Daemon(SIM, automation="manual", mem_overcommit=2, interval_s=5).start() as d:
        wait_for("a pass", lambda: d.status()["pass"])
        assert not kept() and not d.status()["configuration"]
        assert "waits for no confirmation" in d.run("confirm-setting", "mem_overcommit").stderr
        d.stop()
        with contextlib.closing(sqlite3.connect(d.folder / "state/ballast.db")) as db:
            db.execute("INSERT INTO notes (key, value) VALUES ('mem_reclaim_unconfirmed', 'upgraded')")
            db.commit()
        d.start()
        wait_for("a pass", lambda: d.status()["pass"] and kept())
        said = d.status()["configuration"]
        assert len(said) == 1 and "mem_overcommit 2 has had no effect on free memory until now" in said[0], said
        assert said[0] in d.log.read_text() and "ballast confirm-setting mem_overcommit" in " ".join(d.cli("status").split())
        assert d.cli("confirm-setting", "mem_overcommit").startswith("confirmed")
        wait_for("the next pass", lambda: not kept())
        d.stop()
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        assert not kept() and not d.status()["configuration"]
        d.stop()


if __name__ == "__main__":
    main(test_a_copy_is_restored, test_copies_while_it_writes, test_what_cannot_be_copied, test_files_deleted_under_it, test_log_deleted_under_it,
         test_shortened_under_it, test_copies_of_a_folder, test_too_small,
         test_a_setting_that_allows_more_since_an_upgrade)
