#!/usr/bin/env python3
"""Includes point one way: from the daemon down to base, never up, never from plug-in to plug-in. Within the core they point from
the pass down to demand, and no file there declares a function of another folder."""
import re

from tree import ROOT, code_of, end, files, text_of

# Whose headers a folder may include, besides its own and <ballast/…>. The most telling prefix of a path counts.
MAY_INCLUDE = {
    'src/base': '',
    'src/schedule': 'base',
    'src/schema': 'base',
    'src/model': 'base schema',
    'src/units': 'base schema model',
    'src/overlay': 'base schedule model',
    'src/core': 'base model',
    'src/dialect': 'base schema model',
    'src/render': 'base schedule schema model core',
    'src/net': 'base',
    'src/sim/fake_cluster': 'base model',
    'src/sim/workload': 'base model',
    'src/sim/scenario': 'base schedule schema model dialect',
    'src/sim/cluster': 'base model core',
    'src/sim/run': 'base schedule model core render engine store',
    'src/sim/report': 'base schema model render',
    'src/plugins': 'collectors actuators sim',
    'src/config': 'base schedule schema model units overlay dialect plugins',
    'src/store': 'base model engine',
    'src/mqtt': 'base model render engine request',
    'src/alarm': 'base net config schedule mqtt',
    'src/request': 'base schedule engine',
    'src/http': 'base request',
    'src/http/rest': 'base net request',
    'src/preflight': 'base model overlay core render config mqtt alarm plugins',
    'src/engine': 'base schedule schema model overlay core render',
    'src/decision': 'base model core render',
    'src/backtest': 'base schedule model render store sim',
    'src/cli': 'base schema schedule model units overlay core dialect render decision config engine sim store backtest preflight',
    'src/daemon': 'base schedule model units overlay core dialect render decision net config store engine sim mqtt alarm plugins actuators request http',
    'collectors': 'base net',
    'collectors/file': 'base model',
    'actuators': 'base net',
}

# The folders of the core, the lowest first: each may include those before it. 'pass': what lies in src/core itself.
CORE_ORDER = 'demand divvy fit rules layout costbenefit room balance plan power pass place'.split()


def core_folder(parts):
    """Of a file's path below core/."""
    return parts[0] if len(parts) > 1 else 'pass'


def goes_up_in_core(path, included):
    """Whether a file of the core includes one of a folder above its own. A folder without a place in the order, or a
    path with "..": always."""
    if path.parts[:2] != ('src', 'core') or not (included.startswith('core/') or '..' in included):
        return False
    mine, theirs = core_folder(path.parts[2:]), core_folder(included.split('/')[1:])
    if mine not in CORE_ORDER or theirs not in CORE_ORDER or '..' in included:
        return True
    return CORE_ORDER.index(theirs) > CORE_ORDER.index(mine)


def rule_for(path):
    """The longest prefix that has a rule."""
    parts = path.parts
    for n in range(len(parts), 0, -1):
        prefix = '/'.join(parts[:n])
        if prefix in MAY_INCLUDE:
            return prefix
    return None


# A function at the beginning of a line, with its whole list of parameters: what follows tells a declaration from a definition.
FUNCTION = re.compile(r'^(?!static|typedef|return|else|#)[A-Za-z_][\w \t\*]*?\b(\w+)\([^;{}()]*\)\s*([;{])', re.M)


def declared_elsewhere():
    """Functions of the core that a file of another folder declares, or a .c file other than their own."""
    home, lines = {}, []
    for path in files('.c', under='src/core'):
        home.update({name: path for name, end_ in FUNCTION.findall(code_of(path)) if end_ == '{'})
    for path in files('.c', '.h', under='src'):
        for name, end_ in FUNCTION.findall(code_of(path)):
            own = home.get(name)
            if end_ == ';' and own and (path.parent != own.parent or path.suffix == '.c'):
                lines.append(f'{path}: declares {name}() of {own}')
    return lines


def is_other_half(path, included):
    """Whether a collector's plugin.c includes the actuator of the same plug-in."""
    return path.name == 'plugin.c' and path.parts[0] == 'collectors' and included.startswith(f'actuators/{path.parts[1]}/')


violations = [f'the table has {folder}, which is not there' for folder in MAY_INCLUDE if not (ROOT / folder).is_dir()]
violations += declared_elsewhere()
violations += [f'the table lets {folder} include {name}, which is not there' for folder, names in MAY_INCLUDE.items()
               for name in names.split() if not (ROOT / 'src' / name).is_dir() and not (ROOT / name).is_dir()]
n = 0
for path in files('.c', '.h'):
    prefix = rule_for(path.parent)
    if prefix is None:
        if path.parts[0] == 'src':
            violations.append(f'{path.parent}: the table has no rule for it')
        continue
    allowed = set(MAY_INCLUDE[prefix].split())
    own = path.parts[1] if path.parts[0] == 'src' else '/'.join(path.parts[:2])
    for number, line in enumerate(text_of(path).splitlines(), 1):
        match = re.match(r'#include "([^"]+)"', line)
        if not match:
            continue
        n += 1
        included = match.group(1)
        where = included.split('/')[0]
        if goes_up_in_core(path, included):
            violations.append(f'{path}:{number}: within the core must not include {included}')
            continue
        if (ROOT / path.parent / included).exists():
            continue  # a neighbour
        if where == own or where in allowed or included.startswith(own + '/') or is_other_half(path, included):
            continue
        violations.append(f'{path}:{number}: {prefix} must not include {included}')
end(violations, f'{n} includes')
