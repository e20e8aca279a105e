#!/usr/bin/env python3
"""Fills man pages with text from the command's help and from the configuration file, so that the texts cannot differ.

fill.py PAGE.in commands BALLAST    @COMMANDS@: every command, from `BALLAST COMMAND --help`
fill.py PAGE.in settings FILE       @SETTINGS@: every setting, from the commented configuration FILE
"""
import re
import subprocess
import sys
import textwrap

COMMON = ('--socket', '--format', '--help')  # explained once, in the page itself


def text(words):
    """A paragraph as lines of mdoc: one sentence a line, nothing taken for a macro."""
    out = []
    sentences = re.sub(r'([.?!:][)"]?) (?=[A-Z`"(\d])', r'\1\n', words.strip()).splitlines()
    for line in (line for sentence in sentences for line in textwrap.wrap(sentence, 76, break_on_hyphens=False)):
        line = line.replace('\\', r'\e')
        line = re.sub(r'`([^`]+)`', r'\\(lq\1\\(rq', line)
        out.append(r'\&' + line if line.startswith(('.', "'")) else line)
    return out


def literal(lines):
    return ['.Bd -literal -offset indent', *(line.replace('\\', r'\e') for line in textwrap.dedent('\n'.join(lines)).split('\n')), '.Ed']


def blocks(lines):
    """Paragraphs; indented lines are kept as they are."""
    out = []
    paragraph, verbatim = [], []

    def flush():
        nonlocal paragraph, verbatim
        if paragraph:
            out.extend((['.Pp'] if out else []) + text(' '.join(paragraph)))
        if verbatim:
            out.extend(literal(verbatim))
        paragraph, verbatim = [], []

    for line in [*lines, '']:
        if not line.strip() or line.startswith('  ') != bool(verbatim):
            flush()
        if line.strip():
            (verbatim if line.startswith('  ') else paragraph).append(line)
    return out


# ---- commands ------------------------------------------------------------------------------------------------


def usage_macros(usage):
    """"[--set KEY=VALUE]... ID..." as macros, one a line."""
    for token in re.findall(r'\[[^]]*\](?:\.\.\.)?|--[\w-]+ [A-Z][\w=]*|\S+', usage):
        more = ' ...' if token.endswith('...') else ''
        word = token.removesuffix('...').strip('[]')
        option = re.match(r'--([\w-]+) ?(.*)', word)
        if word.split()[0] in COMMON:
            continue
        macros = f'Fl -{option[1]}' + (f' Ar {option[2]}' if option[2] else '') if option else f'Ar {word}'
        yield f'.Op {macros}{more}' if token.startswith('[') else f'.{macros}{more}'


def command_of(ballast, verb):
    shown = subprocess.run([ballast, verb, '--help'], capture_output=True, text=True, check=True).stdout
    usage, summary, options, *more = shown.split('\n\n', 3)
    out = ['.It Xo', f'.Cm {verb}', *usage_macros(' '.join(usage.split()[3:])), '.Xc', *text(' '.join(summary.split()))]
    items = re.findall(r'^  (--[\w-]+)(?: (\S+(?: \S+)*))?(?: {2,}| )(.*(?:\n {4,}.*)*)', options, flags=re.M)
    own = [item for item in items if item[0] not in COMMON or (item[0] == '--format' and 'for people' not in item[2])]
    if own:
        out.append('.Bl -tag -width Ds')
        for name, metavar, meaning in own:
            out += [f'.It Fl {name[1:]}' + (f' Ar {metavar}' if metavar else ''), *text(' '.join(meaning.split()))]
        out.append('.El')
    if more:
        out += ['.Pp'] + blocks(more[0].splitlines())
    return out


def commands(ballast):
    shown = subprocess.run([ballast, '--help'], capture_output=True, text=True, check=True).stdout
    out = []
    for title, body in re.findall(r'^(Commands .*):\n((?:  .*\n)+)', shown, flags=re.M):
        out += [f'.Ss {title}', '.Bl -tag -width Ds']
        for verb in re.findall(r'^  ([a-z][\w-]*)  ', body, flags=re.M):
            out += command_of(ballast, verb)
        out.append('.El')
    return out


# ---- settings ------------------------------------------------------------------------------------------------

NAMES = {'esx1': 'HOST', 'oncall': 'NAME', 'admins': 'NAME', 'local': 'NAME'}  # of examples
KEY = re.compile(r'(?P<off>#?)(?P<indent>(?:  )*)(?P<key>[a-z]\w*):(?: (?P<value>.+))?$')


def item_of(name, key):
    shown = f' Pq {"for example" if key["off"] else "default"}: {key["value"]}' if key['value'] else ''
    return f'.It Ic {name}{shown}'.replace('"', r'\(dq')


def settings(path):
    """Several keys that follow each other share the comment above them; a key without one only opens a level. The lines below a
    key of the first level that is commented out are an example."""
    out, above, comment, example = [], [], [], []
    listed = described = False
    with open(path, encoding='utf-8') as file:
        lines = file.read().split('\n\n', 1)[1].splitlines()  # what comes first is about the file
    for line in lines:
        title = re.match(r'( *)# ---- (.*?) -+$', line)
        if example:
            if line.startswith('#'):
                example.append(line[1:])
                continue
            out += literal(example)
            example = []
        key = KEY.match(line)
        if title:
            out += ['.El'] * listed + [f'.Ss {title[2] if title[1] else title[2][0].upper() + title[2][1:]}']
            listed = described = False
        elif key:
            above = [*above[:len(key['indent']) // 2], NAMES.get(key['key'], key['key'])]
            if comment or (described and key['value']):
                out += ['.Bl -tag -width Ds'] * (not listed)
                listed = True
                body = blocks(comment) if comment else body
                if not comment:  # the text goes below the last of them
                    del out[-len(body):]
                out += [item_of('.'.join(above), key), *body]
            if key['off'] and not key['indent'] and not key['value']:
                example = [line[1:]]
            comment, described = [], bool(key['value']) and (bool(comment) or described)
        elif line.strip().startswith('#'):
            comment.append(re.sub(r'^#? *# ?', '', line))
        else:
            described = False
            if comment:  # about all that follows
                out += ['.El'] * listed + blocks(comment)
                comment, listed = [], False
    return out + ['.El']


page, what, source = sys.argv[1:]
with open(page, encoding='utf-8') as file:
    filled = file.read().replace(f'@{what.upper()}@', '\n'.join({'commands': commands, 'settings': settings}[what](source)))
sys.stdout.write(filled)
