"""redfish_personalities.py: redfish_service.py in the manner of common controllers: their paths, values, errors and quirks, as their
documentation and reports of their users describe them. No code or text of theirs is in here, and no metal was asked.

    with personality("idrac9") as bmc: ...                  # a RedfishService
    python3 tests/peers/redfish_personalities.py --serve idrac9

Their faults are the switches of the service, which work with each of them.
"""
import argparse

from redfish_service import RedfishService

ALL_VALUES = ["On", "ForceOff", "ForceOn", "ForceRestart", "GracefulRestart", "GracefulShutdown", "PowerCycle", "Nmi"]
NO_SESSION_LEFT = "The maximum number of user sessions is reached."


def hpe(bmc):
    """Links end with a slash, requests without one are redirected, Locations are whole URLs; what is on is not switched on."""
    bmc.slashes, bmc.redirect, bmc.absolute = True, 308, bmc.url
    bmc.strict = (400, "iLO.2.14.InvalidOperationForSystemState", "The operation was not successful due to the current power state.")
    bmc.meters = ["power"]


def ilo4(bmc):
    """No soft shutdown but the button's; the ids of messages under another name; NULs at the end of strings."""
    hpe(bmc)
    bmc.message_id, bmc.untidy = "MessageID", "u0000"
    bmc.values = ["On", "ForceOff", "ForceRestart", "Nmi", "PushPowerButton"]


def ilo5(bmc):
    hpe(bmc)
    bmc.values = ["On", "ForceOff", "GracefulShutdown", "ForceRestart", "Nmi", "PushPowerButton", "GracefulRestart"]


def dell(bmc):
    bmc.values = ["On", "ForceOff", "ForceRestart", "GracefulShutdown", "PushPowerButton", "Nmi"]
    bmc.strict = (409, "IDRAC.1.6.PSU501", "Unable to complete the operation because the server is already in the requested state.")
    bmc.related = True
    bmc["System.Embedded.1"].uuid = "4c4c4544-0033-4710-8032-c7c04f475931"


def idrac8(bmc):
    """The collection of sessions is linked to, and takes no login: Basic."""
    dell(bmc)
    bmc.meters = ["power"]
    bmc.instead["POST /redfish/v1/SessionService/Sessions"] = (405, {}, {})


def idrac9(bmc):
    """Few sessions; the draw in several places, the first of which may be without it."""
    dell(bmc)
    bmc.full = (503, "IDRAC.2.4.RAC0218", NO_SESSION_LEFT)
    bmc.sessions_max = 8
    bmc.meters, bmc.readings = ["environment", "power", "telemetry"], {"environment": "missing"}


def supermicro(bmc):
    """The values elsewhere; a reset answers 200 and a message; no UUID was ever written."""
    bmc.values, bmc.values_in = ["On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn"], "info"
    bmc.says_success = True
    bmc.meters = ["power"]
    bmc["1"].uuid = "00000000-0000-0000-0000-000000000000"


def openbmc(bmc):
    """Chassis and system have words for ids; EnvironmentMetrics without the draw; the sensor is there while the host is on."""
    bmc.values, bmc.values_in, bmc.says_success = ALL_VALUES, "info", True
    bmc.chassis_ids = {"system": "chassis"}
    bmc.meters, bmc.readings = ["environment", "sensors"], {"environment": "missing"}


def xcc(bmc):
    """The draw of parts beside that of the server; changes ask for the ETag."""
    bmc.values = ["On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "Nmi", "ForceOn"]
    bmc.related = bmc.parts = True
    bmc.if_match = 428
    bmc.meters = ["power"]


def multinode(bmc):
    """One chassis around four systems, one draw for each beside that of all, a list over pages, and one UUID for all nodes."""
    bmc.enclosure, bmc.related = "Enclosure", True
    bmc.meters = ["environment", "power"]
    bmc.page, bmc.next_link = 2, "?$skip={}"
    for i, s in enumerate(bmc.systems.values()):
        s.watts, s.uuid = 200.0 + i, "03000200-0400-0500-0006-000700080009"


# name: (its set-up, the ids of its systems)
PERSONALITIES = {"ilo4": (ilo4, ["1"]), "ilo5": (ilo5, ["1"]), "idrac8": (idrac8, ["System.Embedded.1"]),
                 "idrac9": (idrac9, ["System.Embedded.1"]), "supermicro": (supermicro, ["1"]), "openbmc": (openbmc, ["system"]),
                 "xcc": (xcc, ["1"]), "multinode": (multinode, ["Node1", "Node2", "Node3", "Node4"])}


def personality(name, **more):
    set_up, systems = PERSONALITIES[name]
    bmc = RedfishService(systems=systems, **more)
    set_up(bmc)
    return bmc


def serve(name, systems):
    """A controller to try things on, until it is interrupted."""
    def told(_, s, kind):
        print(f"{s.name}: {kind}", flush=True)
    with personality(name, hook=told) if name else RedfishService(systems=systems or ["1"], hook=told) as bmc:
        print("redfish:", f"  url: {bmc.url}", f"  username: {bmc.username}", f"  password_file: {bmc.password_file}",
              f"  ca_file: {bmc.ca_file}", sep="\n", flush=True)
        try:
            bmc.over.wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="a Redfish service on loopback, for trying Ballast on it")
    arguments.add_argument("--serve", nargs="?", const="", default="", choices=["", *PERSONALITIES], metavar="NAME",
                           help=f"in the manner of one of {', '.join(PERSONALITIES)}; else plain")
    arguments.add_argument("--systems", nargs="*", help="ids of the systems of a plain one")
    given = arguments.parse_args()
    serve(given.serve, given.systems)
