#!/usr/bin/env python3
"""Power changes through Redfish: effects and errors of the method against the tests' own service; and that service, checked with
two clients of other projects, redfishtool and python3-sushy."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from daemon import wait_for
from probe import PowerProbe
from redfish_service import V1, RedfishService

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip, run_tests  # noqa: E402

SYSTEM_PYTHON = "/usr/bin/python3"  # the one that Debian's packages are for
SYSTEM = f"{V1}/Systems/1"
RESET = f"POST {SYSTEM}/Actions/ComputerSystem.Reset"
SESSIONS = f"{V1}/SessionService/Sessions"


SURE_S = 60  # for what must get through, however busy the machine is


def probe(bmc, role="admin", timeout_s=SURE_S, kind=PowerProbe, **more):
    config = {"url": bmc.url, "username": bmc.users[role][0], "password_file": bmc.files[role], "ca_file": bmc.ca_file,
              "name": "esx1", "timeout_s": timeout_s, "hard_off": "true", **more}
    return kind("redfish", **config)


def ask(bmc, *verbs, **config):
    """The last answer of a probe of its own; the others have to be fine."""
    with probe(bmc, **config) as p:
        for verb in verbs[:-1]:
            answer = p(verb)
            assert answer["ok"], answer
        return p(verbs[-1])


def refused(answer, error, *words):
    """Refused so, and in a sentence that names the host and holds no secret."""
    assert not answer["ok"] and answer["error"] == error, answer
    for word in ("esx1", "Redfish", *words):
        assert word in answer["text"], (word, answer)
    return answer


# ---- the service, seen by others ----

def own_environment():
    """Without what would lead a client's requests, or its trust, elsewhere."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith(("_proxy", "_ca_bundle"))}


SUSHY = """
import json, sys, sushy
url, user, password, ca = sys.argv[1:5]
root = sushy.Sushy(url, auth=sushy.auth.SessionAuth(user, password), verify=ca)
found = root.get_system_collection().get_members()
s = found[0]
out = {"systems": [m.identity for m in found], "before": s.power_state.value,
       "allowed": sorted(v.value for v in s.get_allowed_reset_system_values())}
s.reset_system(sushy.ResetType.FORCE_OFF)
s.refresh(force=True)
out["after"] = s.power_state.value
out["chassis"] = [c.identity for c in s.chassis]
out["watts"] = s.chassis[0].power.json["PowerControl"][0]["PowerConsumedWatts"]
print(json.dumps(out))
"""


def test_service_by_sushy():
    """python3-sushy logs in, finds the system, switches it off and sees that it is off."""
    have = subprocess.run([SYSTEM_PYTHON, "-c", "import sushy"], capture_output=True, timeout=60)
    if have.returncode != 0:
        raise Skip("python3-sushy is missing: apt install python3-sushy")
    with RedfishService(systems=["437XR1138R2"]) as bmc:
        bmc.meters = ["power"]
        done = subprocess.run([SYSTEM_PYTHON, "-c", SUSHY, bmc.url, bmc.username, bmc.password, bmc.ca_file],
                              capture_output=True, text=True, timeout=120, env=own_environment())
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout.splitlines()[-1])
        assert seen["systems"] == ["437XR1138R2"] and seen["chassis"] == ["437XR1138R2"], seen
        assert (seen["before"], seen["after"]) == ("On", "Off"), seen
        assert seen["allowed"] == sorted(bmc.values) and seen["watts"] == 180.0, seen
        assert not bmc["437XR1138R2"].is_on()


def redfishtool(bmc, *words, role="admin", auth="Session"):
    name, password = bmc.users[role]
    return subprocess.run(["redfishtool", "-n", "-r", f"127.0.0.1:{bmc.port}", "-u", name, "-p", password, "-A", auth,
                           "-S", "Always", *words], capture_output=True, text=True, timeout=120, env=own_environment())


def test_service_by_redfishtool():
    """redfishtool lists, reads and resets, by session and by Basic, over pages, with tasks; the reader may only read."""
    if not shutil.which("redfishtool"):
        raise Skip("redfishtool is missing: apt install redfishtool")
    with RedfishService(systems=["a", "b", "c"]) as bmc:
        bmc.page = 2
        done = redfishtool(bmc, "Systems", "list")
        assert done.returncode == 0, done
        assert [m["Id"] for m in json.loads(done.stdout)["Members"]] == ["a", "b", "c"], done.stdout
        for auth, values_in in (("Session", "action"), ("Basic", "info")):
            bmc.values_in = values_in
            assert redfishtool(bmc, "Systems", "-I", "b", "reset", "ForceOff", auth=auth).returncode == 0
            state = redfishtool(bmc, "Systems", "-I", "b", "-P", "PowerState", "get", auth=auth)
            assert json.loads(state.stdout) == {"PowerState": "Off"}, state
            assert redfishtool(bmc, "Systems", "-I", "b", "reset", "On", auth=auth).returncode == 0
            assert bmc["b"].is_on() and bmc["a"].is_on()
        bmc.tasks = "done"
        assert redfishtool(bmc, "Systems", "-I", "a", "reset", "ForceOff").returncode == 0
        assert not bmc["a"].is_on() and max(bmc.task_polls.values()) >= 2, bmc.task_polls
        done = redfishtool(bmc, "Systems", "-I", "c", "reset", "ForceOff", role="reader")
        assert done.returncode != 0 and bmc["c"].is_on(), done
        assert bmc.sessions() == 0, "redfishtool logs out"


# ---- the method ----

def test_verbs():
    """Told, shut down, woken, cut; each with one login, and a logout at the end. Repeating does no harm."""
    with RedfishService() as bmc:
        with probe(bmc) as p:
            assert p("chassis")["on"]
            assert p("shut_down")["ok"] and not p("chassis")["on"]
            assert p("shut_down")["ok"]  # not a push of the button that would start it
            assert [kind for _, _, kind in bmc.resets] == ["GracefulShutdown"], bmc.resets
            assert not p("wake")["was_on"] and p("chassis")["on"] and p("wake")["was_on"]
            assert p("cut")["ok"] and not bmc["1"].is_on() and p("cut")["ok"]
            assert bmc.sessions() == 1
        assert bmc.sessions() == 0
        assert [kind for _, _, kind in bmc.resets] == ["GracefulShutdown", "On", "On", "ForceOff", "ForceOff"]
        logins = [r for r in bmc.requests if r[:2] == ("POST", SESSIONS)]
        assert len(logins) == 1, bmc.requests
        assert not [r for r in bmc.requests if r[2] == "basic"], bmc.requests
        bmc["1"].put("power", 1)
        asked = len(bmc.requests)
        refused(ask(bmc, "cut", hard_off="false"), "EPERM", "hard_off")
        assert bmc["1"].is_on() and len(bmc.requests) == asked, "nobody is asked where it is not allowed"


def test_identity():
    """The machine's UUID and serial number; where the firmware has none, the certificate."""
    with RedfishService() as bmc, probe(bmc) as p:
        bmc["1"].uuid, bmc["1"].serial = "4C4C4544-0042-5110-8036-B6C04F593132", "CZJ1234"
        answer = p("identify")
        assert (answer["uuid"], answer["mark"]) == (bmc["1"].uuid.lower(), "serial CZJ1234"), answer
        bmc["1"].uuid = bmc["1"].serial = None
        answer = p("identify")
        assert answer["ok"] and answer["uuid"] == "" and answer["mark"].startswith("certificate SHA-256 "), answer
        bmc.instead[f"GET {SYSTEM}"] = (200, {}, b"<html>")
        refused(p("identify"), "EPROTO")


def test_strict():
    """A service that refuses to switch on what is on, and one that lies about it."""
    with RedfishService() as bmc:
        bmc.strict = (409, "HpeTest.1.0.InvalidOperationForSystemState",
                      "The operation was not successful due to the current power state.")
        assert ask(bmc, "wake")["ok"] and not bmc.resets
        bmc["1"].put("power", 0)
        bmc["1"].put("claims", "On")  # says on and is off: it is asked all the same
        assert ask(bmc, "wake")["ok"] and bmc["1"].is_on()
        bmc["1"].put("claims", "PoweringOff")  # on its way down: a refusal is one
        refused(ask(bmc, "wake"), "EBUSY", "current power state")
        assert ask(bmc, "chassis")["on"], "what is on its way down has power"
        bmc["1"].put("claims", "Off")  # says off and is on: power is cut all the same
        assert ask(bmc, "cut")["ok"] and not bmc["1"].is_on()


def test_offers():
    """ResetType's values: elsewhere, untold, and without what is needed."""
    with RedfishService(on=False) as bmc:
        bmc.values_in = "info"
        assert ask(bmc, "wake")["ok"] and bmc["1"].is_on()
        bmc.instead = {f"GET {SYSTEM}/ResetActionInfo": (404, {}, {})}  # a link that leads to nothing
        assert ask(bmc, "wake")["ok"] and len(bmc.resets) == 2
        bmc.instead = {}
        bmc.values_in = None
        assert ask(bmc, "cut")["ok"] and not bmc["1"].is_on()
        bmc.values_in, bmc.values = "action", ["ForceOn", "ForceOff"]
        assert ask(bmc, "wake")["ok"] and bmc.resets[-1][2] == "ForceOn"
        refused(ask(bmc, "shut_down"), "EOPNOTSUPP", "GracefulShutdown", "ForceOn, ForceOff")
        assert bmc["1"].is_on()


def test_systems():
    """The only one, one by its id, none of that id, several and none named; over pages; another host in each link."""
    with RedfishService(systems=["blade-1", "blade-2", "blade-3"]) as bmc:
        refused(ask(bmc, "chassis"), "EINVAL", "3 systems", "blade-1, blade-2, blade-3")
        refused(ask(bmc, "chassis", system="blade-9"), "EINVAL", "blade-9", "blade-1, blade-2, blade-3")
        bmc.page = 1
        bmc.absolute = "https://192.0.2.1"  # where nobody answers: only the path of a link counts
        assert ask(bmc, "cut", system="blade-3")["ok"]
        assert [bmc[n].is_on() for n in bmc.systems] == [True, True, False]
        assert bmc.sessions() == 0, "the session's absolute Location led to its end"


def test_tasks():
    """A reset that is a task: done, failed, forgotten, without end; a monitor and the task itself."""
    with RedfishService() as bmc:
        for how, good in (("done", True), ("resource", True), ("forgotten", True), ("failed", False), ("critical", False),
                          ("forever", True)):
            bmc.tasks = how
            began = time.monotonic()
            answer = ask(bmc, "wake", timeout_s=6 if how == "forever" else SURE_S)
            assert answer["ok"] == good, (how, answer)
            assert time.monotonic() - began < SURE_S / 2
            assert max(bmc.task_polls.values()) >= 2, (how, bmc.task_polls)
        bmc.tasks = "failed"
        refused(ask(bmc, "wake"), "EBUSY", "power supply did not answer")


def test_busy():
    """503 and 429 are waited out, at every step, also by a task's monitor; a wait that is too long is not begun."""
    with RedfishService(on=False) as bmc:
        for place in (f"GET {V1}", f"POST {SESSIONS}", f"GET {SYSTEM}", RESET):
            bmc["1"].put("power", 0)
            for bmc.busy_status, bmc.busy_headers in ((503, {"Retry-After": "1"}), (429, {})):
                bmc.busy = {place: 1}
                began = time.monotonic()
                assert ask(bmc, "wake")["ok"] and bmc["1"].is_on(), place
                assert time.monotonic() - began >= 0.9 and not bmc.busy[place], place
        bmc.tasks = "done"
        bmc.busy = {f"GET {V1}/TaskService/Monitors/.*": 1}
        assert ask(bmc, "wake")["ok"] and not any(bmc.busy.values())
        bmc.tasks, bmc.busy, bmc.busy_headers = None, {f"GET {SYSTEM}": 99}, {"Retry-After": "300"}
        answer = refused(ask(bmc, "chassis"), "EBUSY", "429")
        assert answer["ms"] < SURE_S * 500, answer


def test_lost_answers():
    """A reset that is carried out, and whose answer is lost or late: the power state tells. It is sent once."""
    with RedfishService() as bmc:
        for verb, on in (("cut", False), ("wake", True), ("shut_down", False)):
            resets = len(bmc.resets)
            bmc.lost = {RESET}
            assert ask(bmc, verb)["ok"] and bmc["1"].is_on() == on, verb
            assert len(bmc.resets) == resets + 1
        bmc.lost, bmc.hang = set(), {RESET}
        refused(ask(bmc, "wake", timeout_s=6), "ETIMEDOUT")  # it was not carried out
        assert not bmc["1"].is_on()
        bmc.hang, bmc.lost = set(), {f"GET {SYSTEM}"}
        answer = ask(bmc, "chassis")
        assert not answer["ok"] and len([r for r in bmc.requests if r[1] == SYSTEM and r[0] == "GET"]) >= 2, answer


def test_lost_and_refused():
    """A reset whose answer is lost, at a controller that takes the password no more: it is not guessed at until the time is over."""
    with RedfishService() as bmc:
        def locks(*_):
            bmc.users["admin"] = (bmc.users["admin"][0], "another")
            bmc.tokens.clear()

        bmc["1"].put("stuck", 1)
        with probe(bmc, timeout_s=10) as p:
            assert p("chassis")["on"]
            bmc.hook, bmc.lost = locks, {RESET}
            assert not p("cut")["ok"]
            assert bmc.logins() == 2 and len(bmc.resets) == 1, bmc.requests


def test_slow():
    """Answers of 4 s each: a kept session reaches the reset in time, and sees its effect."""
    with RedfishService() as bmc:
        with probe(bmc, timeout_s=20) as p:
            assert p("chassis")["on"]
            bmc.delay_s = 4
            assert p("cut")["ok"] and not bmc["1"].is_on()
            bmc.delay_s = 0


def test_preconditions():
    """If-Match with the system's ETag, where a reset needs it."""
    with RedfishService() as bmc:
        for bmc.if_match in (428, 412):
            with probe(bmc) as p:
                assert p("cut")["ok"] and not bmc["1"].is_on()
                assert p("wake")["ok"] and bmc["1"].is_on()


def test_redirects():
    """To the same path with a slash: followed for reads and resets; to another host: not."""
    with RedfishService() as bmc:
        for bmc.redirect in (301, 308):
            with probe(bmc) as p:
                assert p("cut")["ok"] and not bmc["1"].is_on() and p("wake")["ok"] and p("watts")["ok"]
        bmc.absolute = "https://192.0.2.1"
        refused(ask(bmc, "chassis"), "EPROTO", "another host")


def test_button():
    """Only a power button: pushed where that is allowed, in the one state that is meant."""
    with RedfishService() as bmc:
        bmc.values = ["On", "ForceOff", "ForceRestart", "Nmi", "PushPowerButton"]  # no soft shutdown
        refused(ask(bmc, "shut_down"), "EOPNOTSUPP", "GracefulShutdown", "power_button: true")
        assert bmc["1"].is_on() and not bmc.resets
        with probe(bmc, power_button="true") as p:
            assert p("shut_down")["ok"] and not bmc["1"].is_on() and p("shut_down")["ok"]
            assert [kind for _, _, kind in bmc.resets] == ["PushPowerButton"], bmc.resets
            assert p("wake")["ok"] and bmc.resets[-1][2] == "On"
            bmc.values = ["PushPowerButton"]
            assert p("wake")["ok"] is False and bmc["1"].is_on(), "not pushed while it is on"
            bmc["1"].put("claims", "Unknown")
            refused(p("shut_down"), "EBUSY", "not pushed")
            bmc["1"].drop("claims")
            assert p("shut_down")["ok"] and not bmc["1"].is_on()
            assert p("wake")["ok"] and bmc["1"].is_on()
            refused(p("cut"), "EOPNOTSUPP")


def test_states():
    """PowerState in the words of firmware."""
    with RedfishService() as bmc:
        for word, on in (("PoweringOn", True), ("PoweringOff", True), ("Reset", True), ("OFF", False), ("on", True)):
            bmc["1"].put("claims", word)
            assert ask(bmc, "chassis")["on"] == on, word
        for word in ("Unknown", ""):
            bmc["1"].put("claims", word or "unknown")
            refused(ask(bmc, "chassis"), "EBUSY")
        assert ask(bmc, "cut")["ok"] and not bmc["1"].is_on(), "what is not known is no reason not to"


def test_untidy():
    """JSON as firmware writes it."""
    with RedfishService() as bmc:
        for bmc.untidy in ("bom", "nul", "u0000", "latin1"):
            with probe(bmc) as p:
                assert p("cut")["ok"] and not p("chassis")["on"] and p("wake")["ok"] and p("watts")["ok"], bmc.untidy


def test_certificate_changed():
    """A certificate that changes while the service runs is said to have changed."""
    with RedfishService() as bmc:
        with probe(bmc) as p:
            assert p("chassis")["on"]
            bmc.renew_certificate()
            bmc.stop()
            bmc.start()
            refused(p("chassis"), "EKEYREJECTED", "certificate has changed")


def test_next_link():
    """With several systems and none configured, a list whose next page is relative is read on, one that cannot be followed is an
    error: never the end of the list."""
    with RedfishService(systems=["a", "b", "c"]) as bmc:
        bmc.page = 1
        for bmc.next_link in ("?$skip={}", "Systems?$skip={}", "/redfish/v1/Systems?$skip={}"):
            refused(ask(bmc, "chassis"), "EINVAL", "3 systems", "a, b, c")
            assert ask(bmc, "chassis", system="c")["on"]
        for bmc.next_link in (7, {"@odata.id": "/redfish/v1/Systems?$skip=1"}, "http://["):
            refused(ask(bmc, "chassis"), "EPROTO", "next page")
        for bmc.next_link in (None, ""):
            refused(ask(bmc, "chassis"), "EPROTO", "3 members")


def test_accounts():
    """A wrong password, too little privilege, no sessions at all, no session left."""
    with RedfishService() as bmc:
        wrong = pathlib.Path(bmc.dir.name) / "wrong"
        wrong.write_text("hunter2hunter2\n")
        answer = refused(ask(bmc, "chassis", password_file=wrong), "EACCES", "password is wrong")
        assert "hunter2" not in answer["text"]
        assert ask(bmc, "chassis", role="reader")["on"]
        refused(ask(bmc, "cut", role="reader"), "EPERM", "insufficient privileges")
        assert bmc["1"].is_on()
        assert ask(bmc, "cut", role="operator")["ok"] and not bmc["1"].is_on()
        bmc.sessions_offered = False
        bmc.requests.clear()
        assert ask(bmc, "wake")["ok"] and bmc["1"].is_on()
        assert {r[2] for r in bmc.requests[1:]} == {"basic"} and bmc.requests[0][2] == "", bmc.requests
        refused(ask(bmc, "chassis", password_file=wrong), "EACCES")


def test_kept_session():
    """A reading costs one request, on one connection, in one session; also after a reset, and where the end of a session is
    refused, which is said."""
    with RedfishService() as bmc:
        bmc.instead[f"DELETE {SESSIONS}/.*"] = (405, {}, {})
        p = probe(bmc)
        for verb in ("watts", "chassis", "wake", "watts"):
            assert p(verb)["ok"]
        before, connections = len(bmc.requests), bmc.connections
        for _ in range(50):
            assert p("watts")["ok"]
        assert len(bmc.requests) == before + 50 and bmc.connections == connections, bmc.requests
        assert bmc.logins() == 1 and bmc.connections <= 2, "one connection, and one for what must not arrive twice"
        assert "session was not ended" in p.close()
        assert bmc.sessions() == 1


class CrowdedProbe(PowerProbe):
    """One that has 600 descriptors open."""

    def command(self):
        low = " ".join(f"{i}</dev/null" for i in range(3, 10))
        return ["bash", "-c", f'exec {low}; for i in {{1..600}}; do exec {{fd}}</dev/null; done; exec "$@"', "bash", *super().command()]


def test_many_connections():
    """A process with very many descriptors keeps its session, not its connection."""
    with RedfishService() as bmc:
        with probe(bmc, kind=CrowdedProbe) as p:
            for _ in range(3):
                assert p("watts")["ok"]
                wait_for("no connection is kept", lambda: not bmc.open, 20)
            assert bmc.logins() == 1
        assert bmc.sessions() == 0


def test_session_place():
    """A login that does not tell the session's place by a Location leaves no session behind."""
    with RedfishService() as bmc:
        for tells in ("body", "id", None):
            bmc.login_tells = tells
            assert ask(bmc, "chassis")["ok"]
            assert bmc.sessions() == 0, tells


FULL = [(503, "IDRAC.2.4.RAC0218", "The maximum number of user sessions is reached."),
        (400, "CreateLimitReachedForResource", "The create operation failed because the resource has reached the limit."),
        (403, "GeneralError", "Too many open sessions.")]


def test_sessions_full():
    """Without a free session the method goes on with Basic, and says so; where that is not taken, the reason is no wrong password."""
    for full in FULL:
        with RedfishService() as bmc:
            bmc.sessions_max, bmc.full = 0, full
            p = probe(bmc)
            assert p("cut")["ok"] and p("wake")["ok"] and bmc["1"].is_on(), full
            assert bmc.logins() == 1, "a login is not tried with each request"
            assert p.close().count("has no session left") == 1
            bmc.basic_offered = False
            before = [r[2] for r in bmc.requests].count("basic")
            with probe(bmc) as p:
                for _ in range(3):
                    answer = refused(p("chassis"), "EBUSY", "no session left")
                    assert "password is wrong" not in answer["text"]
                assert [r[2] for r in bmc.requests].count("basic") == before + 1, "it may be the password that is refused"
                bmc.sessions_max = 1
                assert p("chassis")["on"], "a session has become free"


def test_root_locked():
    """A service root that needs a login."""
    with RedfishService() as bmc:
        bmc.root_locked = True
        with probe(bmc) as p:
            assert p("chassis")["on"] and p("cut")["ok"] and p("watts")["ok"]
        assert bmc.sessions() == 0 and bmc.logins() == 1


def test_forgotten_token():
    """A session that the service forgets, in between and always."""
    with RedfishService() as bmc:
        bmc.token_uses = 2
        with probe(bmc) as p:
            for verb in ("chassis", "cut", "wake", "cut", "chassis"):
                assert p(verb)["ok"], verb
        logins = [r for r in bmc.requests if r[:2] == ("POST", SESSIONS)]
        assert len(logins) > 2, bmc.requests
        assert len(bmc.resets) == 3, "a request that was answered 401 was not carried out"
        bmc.instead[f"GET {SYSTEM}"] = (401, {}, {})
        refused(ask(bmc, "chassis"), "EACCES", "401")


GARBAGE = [
    (200, b"<html>Please wait</html>"),
    (200, b""),
    (200, b"[]"),
    (200, b"[" * 100000),
    (200, b'{"PowerState": "Maybe"}'),
    (200, b'{"PowerState": 1}'),
    (200, b'{"PowerState": "' + b"x" * 2000000 + b'"}'),
    (302, b""),
    (418, b"\x00\xff"),
]


def test_garbage():
    """Answers that are none: an error that says so, at once, and nothing else."""
    with RedfishService() as bmc:
        for status, text in GARBAGE:
            bmc.instead = {f"GET {SYSTEM}": (status, {"Location": "https://192.0.2.1/"} if status == 302 else {}, text)}
            began = time.monotonic()
            refused(ask(bmc, "chassis"), "EPROTO")
            assert time.monotonic() - began < SURE_S / 2
        places = {f"GET {V1}": b'{"Systems": {"@odata.id": 7}}', f"GET {V1}/Systems": b'{"Members": [{"@odata.id": "evil"}]}',
                  f"POST {SESSIONS}": b"{}"}
        for place, text in places.items():
            bmc.instead = {place: (200, {}, text)}
            answer = ask(bmc, "chassis")
            assert not answer["ok"] and answer["error"] in ("EPROTO", "EOPNOTSUPP"), (place, answer)
        bmc.instead = {f"GET {SYSTEM}": (200, {}, b'{"PowerState": null}')}
        refused(ask(bmc, "chassis"), "EBUSY")
        bmc.instead = {f"GET {SYSTEM}": (200, {}, b'{"PowerState": "On", "Actions": {"#ComputerSystem.Reset": {"target": 1}}}')}
        refused(ask(bmc, "wake"), "EPROTO", "target")
        bmc.instead = {RESET: (200, {}, b"fine!")}  # taken is taken
        assert ask(bmc, "wake")["ok"]


def test_time():
    """A service that is late, hangs, is gone, has another certificate: an error in time."""
    with RedfishService() as bmc:
        bmc.delay_s = 0.5
        assert ask(bmc, "chassis")["on"]
        bmc.delay_s = 0
        for place in (f"GET {V1}", f"POST {SESSIONS}", f"GET {SYSTEM}", RESET):
            bmc.hang = {place}
            bmc["1"].put("power", 0)
            began = time.monotonic()
            refused(ask(bmc, "wake", timeout_s=2), "ETIMEDOUT")
            assert time.monotonic() - began < SURE_S / 2, place
        bmc.hang = {f"DELETE {SESSIONS}/.*"}  # the logout takes at most two seconds
        began = time.monotonic()
        assert ask(bmc, "chassis")["ok"]
        assert time.monotonic() - began < SURE_S / 2
        bmc.hang = set()
        refused(ask(bmc, "chassis", ca_file="/etc/ssl/certs/ca-certificates.crt"), "EKEYREJECTED", "certificate")
        assert ask(bmc, "chassis", ca_file=None, tls_verify="false")["ok"]
        bmc.stop()
        refused(ask(bmc, "chassis"), "ECONNREFUSED")
        bmc.start()
        assert ask(bmc, "chassis")["ok"]


def test_simulated_host():
    """A system that is a host of the simulated cluster: its files are switched and read."""
    with RedfishService() as bmc:
        folder = pathlib.Path(bmc.dir.name) / "cluster"
        for what, value in (("power", "1"), ("watts", "212.5")):
            (folder / what).mkdir(parents=True)
            (folder / what / "esx1").write_text(value)
        bmc["1"].be(folder, "esx1")
        with probe(bmc) as p:
            assert p("watts")["watts"] == 212.5
            assert p("cut")["ok"] and (folder / "power" / "esx1").read_text().strip() == "0"
            (folder / "power" / "esx1").write_text("1\n")
            assert p("chassis")["on"]


def test_stop():
    """The service goes down in the midst of a call: given up at once, and still logged out."""
    with RedfishService() as bmc:
        bmc.hang = {RESET}
        with probe(bmc) as p:
            answer = refused(p("stop", 300, "wake"), "ECANCELED")
            assert answer["ms"] < SURE_S * 500, answer
            bmc.hang, bmc.tasks = set(), "forever"
            answer = p("stop", 6000, "wake")  # it was taken: the task is left alone
            assert answer["ok"] and answer["ms"] < SURE_S * 500, answer
        assert bmc.sessions() == 0
        bmc.requests.clear()
        bmc.late = {f"POST {SESSIONS}": 2.5}  # a login that was sent is awaited: its answer names the session to end
        with probe(bmc) as p:
            refused(p("stop", 1500, "wake"), "ECANCELED")
        time.sleep(2.5)  # a login that nobody waits for is carried out by then
        assert bmc.logins() == 1 and bmc.sessions() == 0
        assert not any("Reset" in path for _, path, _ in bmc.requests), bmc.requests


def test_configuration():
    """What is wrong with it is said, before any network."""
    with RedfishService() as bmc:
        refused(ask_created(bmc, url="http://127.0.0.1/"), "EINVAL", "https://")
        refused(ask_created(bmc, url="https://127.0.0.1/redfish/v2"), "EINVAL", "no path")
        refused(ask_created(bmc, url="https://a:hunter2@127.0.0.1"), "EINVAL")
        refused(ask_created(bmc, username=None), "EINVAL", "username")
        assert ask(bmc, "chassis", url=bmc.url + "/redfish/v1/")["ok"]


def ask_created(bmc, **config):
    with probe(bmc, **config) as p:
        return p()


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
