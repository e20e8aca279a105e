#!/usr/bin/env python3
"""Every name in comments and READMEs exists: files, folders below the top, functions with their parentheses."""
import re

from tree import ROOT, code_of, end, files, text_of

TOPS = sorted(p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith(('.', 'build')))
FILE = re.compile(r'(?<![\w./<$*{}…-])(?:[\w.-]+/)*[\w-]+\.(?:c|h|py|md)\b(?![\w/(*])')
BELOW_TOP = re.compile(rf'(?<![\w./<$*-])(?:{"|".join(TOPS)})/[\w./-]+')
LINK = re.compile(r'\]\(([^)#:]+)(?:#[^)]*)?\)')
FUNCTION = re.compile(r'(?<![\w.>-])([a-z]\w+)\(\)')
EXAMPLE = re.compile(r'[A-Z]{2}')  # NAME.c, AREA/NAME: a word that stands for others
OF_OTHERS = {'src/shared/calendarspec.c', 'bindings/mqtt-protocol-binding.md'}  # systemd's, CloudEvents'


def c_comments(text):
    """C with nothing left but its comments; lines keep their numbers."""
    parts = re.split(r'(/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', text, flags=re.S)
    return ''.join(part if part.startswith(('/*', '//')) else '\n' * part.count('\n') for part in parts)


def prose_of(path):
    if path.suffix == '.md':
        return text_of(path)
    if path.suffix in ('.c', '.h'):
        return c_comments(text_of(path))
    hashes = [line[line.find('#'):] if '#' in line else '' for line in text_of(path).splitlines()]
    return '\n'.join(hashes)


there = {str(p) for p in files()} | {str(parent) for p in files() for parent in p.parents}
there |= {re.sub(r'\.(c|h|py)$', '', p) for p in there}  # tests/peers/daemon is daemon.py
ends = {'/'.join(p.parts[n:]) for p in files() for n in range(len(p.parts))}
words, pasted = set(), set()
for path in files('.c', '.h', '.py', '.build', '.sh'):
    code = code_of(path) if path.suffix in ('.c', '.h') else text_of(path)
    words.update(re.findall(r'\w+', code))
    pasted.update(re.findall(r'##(_\w+)', code))


def missing(path, line):
    """What is named in a line of this file, and is not there."""
    here = (ROOT / path).parent
    for name in FILE.findall(line):
        if name not in ends | OF_OTHERS and not (here / name).exists() and not EXAMPLE.search(name.replace('README', '')):
            yield name
    for found in BELOW_TOP.finditer(line):
        name = found.group().rstrip('/.-')
        if name not in there | OF_OTHERS and line[found.end():found.end() + 1] not in tuple('*…{<') \
                and not EXAMPLE.search(name.replace('README', '')):
            yield name
    for name in LINK.findall(line) if path.suffix == '.md' else ():
        if not (here / name).exists():
            yield name
    for name in FUNCTION.findall(line):
        if name not in words and not name.endswith(tuple(pasted)):
            yield name + '()'


violations, n = [], 0
for path in files('.c', '.h', '.py', '.md', '.build', '.sh', 'run'):
    n += 1
    for number, line in enumerate(prose_of(path).splitlines(), 1):
        violations += [f'{path}:{number}: there is no {name}' for name in sorted(set(missing(path, line)))]
end(violations, f'{n} files')
