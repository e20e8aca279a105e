"""redfish_meters.py: what a system draws, in each of the resources that firmware tells it by; for redfish_service.py.

A chassis has the sources that `bmc.meters` lists: environment, power, subsystem, sensors, telemetry. `bmc.readings` overrides what one
of them reads: a number, None (null), or "missing" (the property is not there).
"""

import datetime

V1 = "/redfish/v1"
LINKS = {"environment": "EnvironmentMetrics", "power": "Power", "subsystem": "PowerSubsystem", "sensors": "Sensors"}


def links(*paths):
    return [{"@odata.id": p} for p in paths]


def reading(bmc, source, name, systems):
    """{name: watts}, of all these systems together."""
    if source in bmc.readings:
        value = bmc.readings[source]
    else:
        draws = [s.draws() for s in systems]
        value = None if None in draws else draws[0] if len(draws) == 1 else sum(draws)
    return {} if isinstance(value, str) and value == "missing" else {name: value}


def chassis_links(bmc, path):
    return {LINKS[m]: {"@odata.id": f"{path}/{LINKS[m]}"} for m in bmc.meters if m in LINKS}


def environment(bmc, path, systems):
    watts = reading(bmc, "environment", "Reading", systems)
    r = {"@odata.id": path, "@odata.type": "#EnvironmentMetrics.v1_1_0.EnvironmentMetrics", "Id": "EnvironmentMetrics",
         "Name": "Environment Metrics", "PowerLimitWatts": {"SetPoint": 0, "ControlMode": "Disabled"}}
    return {**r, "PowerWatts": {"DataSourceUri": f"{path[:path.rindex('/')]}/Sensors/total_power", **watts}} if watts else r


def power(bmc, path, systems):
    """One PowerControl for the chassis; with `bmc.parts` others for a processor; in an enclosure one for each system."""
    chassis = path[:path.rindex("/")]
    whole = {"Name": "Server Power Control", **reading(bmc, "power", "PowerConsumedWatts", systems), "PowerCapacityWatts": 800}
    if bmc.related:
        whole["RelatedItem"] = links(chassis, *(f"{V1}/Systems/{s.name}" for s in systems if len(systems) == 1))
    controls = [whole]
    if bmc.parts:
        part = {"Name": "CPU Sub-system Power", "PowerConsumedWatts": 45,
                "RelatedItem": links(*(f"{V1}/Systems/{s.name}/Processors/1" for s in systems))}
        controls.insert(0, part)
    if len(systems) > 1:
        controls += [{"Name": f"Node {s.name}", **reading(bmc, "power", "PowerConsumedWatts", [s]),
                      "RelatedItem": links(f"{V1}/Systems/{s.name}")} for s in systems]
    for i, control in enumerate(controls):
        control.update({"@odata.id": f"{path}#/PowerControl/{i}", "MemberId": str(i)})
    return {"@odata.id": path, "@odata.type": "#Power.v1_6_0.Power", "Id": "Power", "Name": "Power", "PowerControl": controls,
            "PowerSupplies": [], "Voltages": []}


def subsystem(bmc, path, rest, systems):
    """Two power supplies, which share the load."""
    if not rest:
        return {"@odata.id": path, "@odata.type": "#PowerSubsystem.v1_1_0.PowerSubsystem", "Id": "PowerSubsystem",
                "Name": "Power Subsystem", "PowerSupplies": {"@odata.id": f"{path}/PowerSupplies"}}
    if rest == ["PowerSupplies"]:
        return {"@odata.id": path, "Name": "Power Supplies", "Members@odata.count": 2, "Members": links(f"{path}/0", f"{path}/1")}
    if len(rest) == 2:
        return {"@odata.id": path, "Id": rest[1], "Name": f"Power Supply {rest[1]}", "Metrics": {"@odata.id": f"{path}/Metrics"}}
    watts = reading(bmc, "subsystem", "Reading", systems)
    if watts.get("Reading"):
        watts = {"Reading": watts["Reading"] / 2}
    return {"@odata.id": path, "Id": "Metrics", "Name": "Metrics", **({"InputPowerWatts": watts} if watts else {})}


def sensors(bmc, path, rest, systems):
    names = ["ambient_temperature", "ps0_input_power", "total_power"]
    if not rest:
        return {"@odata.id": path, "Name": "Sensors", "Members@odata.count": len(names), "Members": links(*(f"{path}/{n}" for n in names))}
    if rest[0] not in names:
        return None
    if rest[0] == "total_power":
        watts = reading(bmc, "sensors", "Reading", systems)
        if not watts or not any(s.is_on() for s in systems):
            return None  # some firmware has it while the host is on only
        return {"@odata.id": path, "Id": rest[0], "Name": "total power", "ReadingType": "Power", "ReadingUnits": "W", **watts,
                "Status": {"State": "Enabled", "Health": "OK"}}
    kind = "Power" if "power" in rest[0] else "Temperature"
    return {"@odata.id": path, "Id": rest[0], "Name": rest[0], "ReadingType": kind, "Reading": 21.5}


def of_chassis(bmc, path, rest, systems):
    """The resource below a chassis, or None."""
    source = next((m for m, name in LINKS.items() if m in bmc.meters and rest and name == rest[0]), None)
    if source in ("environment", "power") and len(rest) == 1:
        return {"environment": environment, "power": power}[source](bmc, path, systems)
    if source in ("subsystem", "sensors"):
        return {"subsystem": subsystem, "sensors": sensors}[source](bmc, path, rest[1:], systems)
    return None


def timestamp(bmc, age_s):
    """By the controller's clock, in a time zone."""
    zone = datetime.timezone(datetime.timedelta(hours=-5))
    return {"Timestamp": datetime.datetime.fromtimestamp(bmc.clock() - age_s, zone).isoformat()} if age_s is not None else {}


def telemetry(bmc, path, rest):
    """A service with reports of which one has the power, as strings."""
    if "telemetry" not in bmc.meters:
        return None
    if not rest:
        return {"@odata.id": path, "Id": "TelemetryService", "Name": "Telemetry", "MetricReports": {"@odata.id": f"{path}/MetricReports"}}
    if rest == ["MetricReports"]:
        return {"@odata.id": path, "Name": "Reports", "Members": links(f"{path}/ThermalMetrics", f"{path}/PowerMetrics")}
    if rest == ["MetricReports", "PowerMetrics"]:
        watts = reading(bmc, "telemetry", "MetricValue", list(bmc.systems.values()))
        values = [{"MetricId": "TotalCPUPower", "MetricValue": "45", **timestamp(bmc, 0)}]
        if watts.get("MetricValue") is not None:
            values += [{"MetricId": "SystemPowerConsumption", "MetricValue": str(w), **timestamp(bmc, age)}
                       for age, w in ((bmc.report_age_s, watts["MetricValue"]), (bmc.report_age_s + 1, 1))]
        return {"@odata.id": path, "Id": "PowerMetrics", "Name": "Power Metrics", "MetricValues": values}
    return None
