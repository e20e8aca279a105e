#!/usr/bin/env python3
"""Names explain themselves: a function says by its prefix where it is, and words that mislead do not come back; neither do they in
what a person reads.

words.py --list prints the functions with a wrong prefix alone, each with its file.
"""
import io
import json
import pathlib
import re
import subprocess
import sys
import tokenize

from tree import BUILD, ROOT, SKIPPED, code_of, end, files, text_of

CODE = ('src/', 'include/', 'collectors/', 'actuators/')

# ---- The prefix rule.
#
# A function that other files can call begins with the name of its file, of one of its folders, or of the header that
# declares it; a function of include/ballast also with the name of a struct of its header (struct host_facts: host_facts_watts).
# One of these in the plural lends its singular (the folder actions: action_find), nothing else does.

# Short forms that the field uses; the rest is spelled out.
SHORT = {'vsphere': 'vs', 'proxmox': 'pve', 'json_writer': 'jw'}
# What an enumeration's words are asked with carries the enumeration's name: vm_kind_name().
OF_AN_ENUM = ('_name', '_meaning', '_parse')
# Names that a library, a standard or a habit of C gives.
GIVEN = {'main', 'xcalloc', 'xreallocarray', 'xstrdup', 'xstrset'}


def singular(word):
    if word.endswith('ies'):
        return word[:-3] + 'y'
    return word[:-1] if word.endswith('s') and not word.endswith('ss') else word


def objects():
    """(source, object file) of all that is built of the product."""
    commands = BUILD / 'compile_commands.json'
    if not commands.exists():
        print(f'{commands} is missing: nothing is built')
        raise SystemExit(SKIPPED)
    ret = {}
    for entry in json.loads(commands.read_text(encoding='utf-8')):
        source = (pathlib.Path(entry['directory']) / entry['file']).resolve()
        if source.is_relative_to(ROOT.resolve()) and str(source.relative_to(ROOT.resolve())).startswith(CODE):
            ret[source.relative_to(ROOT.resolve())] = pathlib.Path(entry['directory']) / entry['output']
    return ret


def exported(built):
    """(function, source) of each function that other files can call."""
    out = subprocess.run(['nm', '-A', '-g', '--defined-only', *map(str, built.values())], capture_output=True, text=True, check=True)
    source_of = {str(path): source for source, path in built.items()}
    for line in out.stdout.splitlines():
        path, rest = line.split(':', 1)
        _, kind, name = rest.split()
        if kind in 'TW':
            yield name, source_of[path]


def headers_and_enums():
    """In which headers a name stands before a parenthesis; the enumerations whose words have names."""
    declared, enums = {}, set()
    for path in files('.h'):
        if str(path).startswith(CODE):
            code = code_of(path)
            enums.update(re.findall(r'^NAME_DECLARE\((\w+)', code, flags=re.M))
            for name in set(re.findall(r'\b(\w+)\(', code)):
                declared.setdefault(name, []).append(path)
    return declared, enums


def prefixes(source, headers):
    """What the name of an exported function of this source may begin with."""
    near = [h for h in headers if source.is_relative_to(h.parent) or h.parts[0] == 'include']
    words = {source.stem, *(p for p in source.parts[:-1] if p != 'src'), *(h.stem for h in near)}
    words |= {singular(w) for w in words}
    words |= {name for h in near if h.parts[0] == 'include' for name in re.findall(r'^struct (\w+) \{', code_of(h), flags=re.M)}
    return words | {SHORT[w] for w in words if w in SHORT}


def wrong_prefixes():
    """(lines, number of functions looked at)."""
    built = objects()
    declared, enums = headers_and_enums()
    wrong, n = [], 0
    for source in files('.c'):
        if str(source).startswith(CODE) and source not in built:
            wrong.append(f'{source}: is not built')
    for name, source in sorted(exported(built), key=lambda f: (f[1], f[0])):
        n += 1
        may = prefixes(source, declared.get(name, []))
        if name in GIVEN or any(name == p or name.startswith(p + '_') for p in may):
            continue
        if any(name == enum + end_ for enum in enums for end_ in OF_AN_ENUM):
            continue
        wrong.append(f'{source}: {name}() begins with none of {", ".join(sorted(may))}')
    return wrong, n

# ---- Words that mislead.
#
# Each says of itself nothing to somebody who knows virtualization; what stands behind it is the word of the field.

ANYWHERE = {  # as a part of an identifier or of a file's name
    'agenda': 'action_queue', 'daytime': 'wall_clock', 'deed': 'operation', 'dialler': 'console_opener',
    'greet': 'presence_ping', 'hearer': 'subscriber', 'keeper': 'holder',
    'occupancy': 'slot_usage', 'outlet': 'event_sink', 'parcel': 'share_solver', 'readiness': 'preconditions',
    'refuge': 'candidate', 'regret': 'quiet', 'serving': 'request_handler', 'sight': 'inventory or sample',
    'storing': 'persist', 'teller': 'thread', 'telling': 'feed', 'thaw': 'resume', 'freeze': 'snapshot_build or pause',
    'whereabouts': 'observed_state', 'switching': 'power_progress',
}
FIRST = {  # as the first word of an identifier or of a file's name
    'carry': 'action_states', 'doubt': 'reply_lost', 'hand': 'actuators', 'together': 'demand_correlation',
}
WHOLE = {  # as a file's name without its ending
    'acting': 'actuator_workers', 'collecting': 'collector_thread', 'draw': 'host_power', 'hands': 'actuators',
    'following': 'event_stream', 'host_parts': 'pool_parts', 'learn': 'migration_stats', 'learned': 'migration_stats',
    'outgoing': 'event_queue', 'own': 'duplicate_controllers', 'parts': 'per_host_pools', 'pattern': 'demand_profile',
    'patterns': 'demand_profile', 'pretend': 'fake_cluster', 'reach': 'power_methods_check', 'ready': 'ready_by',
    'room': 'prerequisite_moves', 'say': 'startup_log', 'settle': 'preferred_rules', 'shown': 'format', 'spare': 'failover_capacity',
    'switches': 'power_setup', 'thin': 'downsample', 'truth': 'ground_truth',
}
# What other programs read keeps its name, also where the code has a name for it.
READ_BY_OTHERS = set()


def parts_of(name):
    """The words of an identifier or of a file's name, in the singular."""
    return [singular(word) for word in re.split(r'[\W_\d]+', name.lower()) if word]


def instead(name):
    """(word that misleads, better ones), or None."""
    words = parts_of(name)
    found = [word for word in words if word in ANYWHERE]
    if found:
        return found[0], ANYWHERE[found[0]]
    return (words[0], FIRST[words[0]]) if words and words[0] in FIRST else None


def identifiers(path):
    """(line, identifier) of a C or Python file; what stands in strings and comments is none."""
    if path.suffix == '.py':
        for token in tokenize.generate_tokens(io.StringIO(text_of(path)).readline):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string
        return
    for number, line in enumerate(code_of(path).splitlines(), 1):
        for name in re.findall(r'\b[A-Za-z_]\w*', re.sub(r'#include.*', '', line)):
            yield number, name


def misleading():
    """(lines, number of files looked at)."""
    wrong, n = [], 0
    for path in files('.c', '.h', '.py', '.md', '.json', '.yaml', '.build', '.txt', '.go', '.sh'):
        if path.parts[0] not in ('src', 'include', 'collectors', 'actuators', 'tests') or path.parts[:2] == ('tests', 'scenarios'):
            continue
        n += 1
        of_file = instead(path.stem) or (path.stem in WHOLE and (path.stem, WHOLE[path.stem]))
        if of_file:
            wrong.append(f'{path}: the file is named for "{of_file[0]}" (better: {of_file[1]})')
        if path.suffix not in ('.c', '.h', '.py'):
            continue
        first = {}
        for number, name in identifiers(path):
            if name not in READ_BY_OTHERS and instead(name):
                first.setdefault(name, number)
        wrong += [f'{path}:{number}: {name} has the word "{instead(name)[0]}" (better: {instead(name)[1]})' for name, number in first.items()]
    return wrong, n


# ---- Paused, not frozen.
#
# JSON, MQTT and the store say "frozen" and "thawed", and older commands "freeze" and "thaw": programs read these. A person reads
# paused and resumed: the words stand in no sentence, only alone, as what a program reads.

FORMER = re.compile(r'\b(?:un)?(?:frozen|fr[eo]e?z(?:es?|ing)|thaw(?:s|ed|ing)?)\b', re.I)
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r'/\*.*?\*/', re.S)
OF_PROGRAMS = {'.md': r'`[^`]*`|"frozen\w*"', '.yaml': r'`[^`]*`', '.man': r'(?m)^\.(?:Li|Cm) .*$', '.ts': r'[.\w]*frozen(?:_\w+)?\??:|\w\.frozen\w*|^\s*frozen\w*\b'}


def sentences(path):
    """What of the file a person reads and the words must not stand in."""
    text = text_of(path)
    if path.suffix in ('.c', '.h'):
        return [literal for literal in LITERAL.findall(COMMENT.sub('', text)) if re.search(r'\s', literal) and 'value_json' not in literal]
    kind = '.man' if re.search(r'\.[1-8](\.in)?$', path.name) else {'.tsx': '.ts'}.get(path.suffix, path.suffix)
    return re.sub(OF_PROGRAMS[kind], '', text).splitlines()


def former_words():
    """(lines, number of files looked at)."""
    wrong, n = [], 0
    for path in files('.c', '.h', '.md', '.yaml', '.ts', '.tsx', *(f'.{section}' for section in range(1, 9)), '.in'):
        if path.parts[0] not in ('src', 'include', 'collectors', 'actuators', 'packaging', 'conf', 'dashboard', 'README.md') or '.test.' in path.name:
            continue
        if path.suffix == '.in' and not re.search(r'\.[1-8]\.in$', path.name):
            continue
        n += 1
        wrong += [f'{path}: "{found[0]}" in "{line.strip()[:80]}" (a person reads: paused, resumed)' for line in sentences(path) for found in FORMER.finditer(line)]
    return wrong, n


def main():
    functions, n_functions = wrong_prefixes()
    if sys.argv[1:] == ['--list']:
        end(functions, f'{n_functions} functions')
    names, n_files = misleading()
    former, n_read = former_words()
    end(names + functions + former, f'{n_files} files, {n_functions} functions, {n_read} files for people')


main()
