"""What classes for oVirt's external scheduler are asked: do_filter(), do_score() and do_balance(), which return their result or, as those of
oVirt's scheduler proxy do, print it."""
import ast
import contextlib
import io


def hosts_of(world):
    return world["made"].setdefault("hosts", [h["id"] for h in world["hosts"]])


def vms_of(world):
    return world["made"].setdefault("vms", {vm["id"]: vm for vm in world.get("vms", ())})


def result(unit, names, *given):
    """What the first of these methods returns, or the last line that it prints."""
    method = next((getattr(unit, n) for n in names if hasattr(unit, n)), None)
    if not method:
        raise AttributeError(f"the class has no method {names[0]}")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        returned = method(*given)
    lines = printed.getvalue().split("\n")[:-1]
    if returned is None and lines:
        return ast.literal_eval(lines[-1])
    return returned


def filter_hosts(unit, properties, world, vm):
    kept = set(result(unit, ("do_filter", "do_filter_hosts"), list(hosts_of(world)), vm, dict(properties)))
    return {"hosts": [h for h in hosts_of(world) if h in kept]}


def score_hosts(unit, properties, world, vm):
    """In oVirt the lowest score wins."""
    pairs = dict(result(unit, ("do_score", "do_score_hosts"), list(hosts_of(world)), vm, dict(properties)))
    known = [h for h in hosts_of(world) if h in pairs]
    return {"hosts": known, "scores": [-float(pairs[h]) for h in known]}


def balance_hosts(unit, properties, world, vm):
    """(a VM that is to leave its host, where it may go): for it these hosts, for all others every host."""
    made = world["made"]
    if "balance" not in made:
        made["balance"] = result(unit, ("do_balance",), list(hosts_of(world)), dict(properties)) or (None, [])
    chosen, to = made["balance"]
    return {"hosts": [h for h in hosts_of(world) if vm != chosen or h in set(to)]}
