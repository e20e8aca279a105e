"""Shared by the checks: the files of the tree, C without its comments and strings, and the end of a check."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get('BALLAST_SOURCE_DIR') or pathlib.Path(__file__).resolve().parents[2])
BUILD = pathlib.Path(os.environ.get('BALLAST_BUILD_DIR') or ROOT / 'build')
SKIPPED = 77


def files(*suffixes, under='.'):
    """Paths relative to the top, sorted; no build folders, nothing that npm fetched, nothing hidden but .ci."""
    ret = []
    for folder, folders, names in os.walk(ROOT / under):
        here = pathlib.Path(folder)
        folders[:] = sorted(f for f in folders if (not f.startswith('.') or f == '.ci')
                            and f not in ('__pycache__', 'node_modules') and not (here == ROOT and f.startswith('build'))
                            and not (here.name == 'dashboard' and f == 'dist'))
        ret += [(here / n).relative_to(ROOT) for n in sorted(names) if not suffixes or n.endswith(suffixes)]
    return ret


def text_of(path):
    return (ROOT / path).read_text(encoding='utf-8', errors='replace')


def blank(match):
    """As many lines, and nothing on them."""
    return '\n' * match.group(0).count('\n')


def code_of(path):
    """C without comments, and with empty strings; lines keep their numbers."""
    text = re.sub(r'/\*.*?\*/', blank, text_of(path), flags=re.S)
    text = re.sub(r'//[^\n]*', '', text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def end(violations, looked_at):
    for line in violations:
        print(line)
    print(f'{len(violations)} violations' if violations else f'{looked_at}: ok')
    sys.exit(1 if violations else 0)
