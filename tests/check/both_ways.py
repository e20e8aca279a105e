#!/usr/bin/env python3
"""What the command can do the API can do, and the other way round: each verb sends a request, each request has a route and a verb, and each field
of a request is one that a verb sends. What stands in the tables of src/cli/README.md is left out, with the reason that stands there."""
import re

from tree import end, files, text_of

README = 'src/cli/README.md'
FORMER = {'freeze': 'pause', 'thaw': 'resume'}  # which services of every version know


def requests():
    """{word: fields}"""
    enum = dict(re.findall(r'X\((REQUEST_\w+), "(\w+)"', text_of('src/request/request.h')))
    found = {word: set() for word in enum.values()}
    table = text_of('src/request/request.c').partition(' fields[] = {')[2].partition('\n};')[0]
    for name, kinds in re.findall(r'\{"(\w+)",\s*((?:OF\(REQUEST_\w+\)[\s|]*)+)', table):
        for kind in re.findall(r'REQUEST_\w+', kinds):
            found[enum[kind]].add(name)
    return enum, found


GENERAL = ('client', 'input', 'output', 'options', 'verbs')  # which know no single request
SENDS = (r'"command", "(\w+)"', r'\b(?:client|selection)_tell\(args, "(\w+)"', r'\[DECISION_\w+\] = "(\w+)"', r'former_name = "(\w+)"', r'\.word = "(\w+)"')


def sent():
    """{word: the string literals of the files that send it}, {file: the words that it sends}. A file sends what the files whose headers it
    includes send."""
    texts = {path.stem: text_of(path) for path in files('.c', under='src/cli') if path.stem != 'bugreport'}  # which sends nearly all
    several = texts.pop('requests')  # a verb each, up to its end
    texts.update({name: text for text, name in re.findall(r'((?:.*\n)*?const struct verb verb_(\w+) = {\n(?:.*\n)*?};\n)', several)})
    own = {name: {w for pattern in SENDS for w in re.findall(pattern, text)} for name, text in texts.items()}
    own = {name: {FORMER.get(w, w) for w in words} for name, words in own.items()}
    literals, by_file = {}, {}
    for name, text in texts.items():
        helpers = [h for h in re.findall(r'#include "cli/(\w+)\.h"', text) if h in own and h not in GENERAL]
        by_file[name] = set().union(own[name], *(own[h] for h in helpers))
        found = {w.replace('-', '_') for f in (name, *helpers) for w in re.findall(r'"([\w-]+)"', texts[f])}
        for word in by_file[name]:
            literals.setdefault(word, set()).update(found)
    return literals, by_file


def excepted():
    """The first columns of the tables: verbs, and fields as "request: field"."""
    part = text_of(README).partition('## What only one of them can do')[2]
    return {name for cell in re.findall(r'^\| (`[^|]*) \|', part, re.M) for name in re.findall(r'`([^`]+)`', cell)}


violations = []
enum, fields = requests()
literals, by_file = sent()
routes = {enum[k] for k in re.findall(r'REQUEST_\w+', text_of('src/http/route.c').partition('const struct route routes[]')[2].partition('\n};')[0])}
verbs = re.findall(r'^    X\((\w+)\)', text_of('src/cli/verbs.h'), re.M)
left_out = excepted()
used = set()


def missing(name, sentence):
    used.add(name)
    if name not in left_out:
        violations.append(f'{sentence}; mend it, or give the reason in {README}')


for verb in verbs:
    if not by_file.get(verb):
        missing(verb.replace('_', '-'), f'src/cli/{verb}.c: the verb sends no request of its own')
for word, names in fields.items():
    if word not in routes:
        missing(word, f'src/http/route.c: no route for the request "{word}"')
    if word not in literals:
        missing(word, f'src/cli: no verb sends the request "{word}"')
        continue
    for name in sorted(names - literals[word]):
        missing(f'{word}: {name}', f'src/cli: no verb sends the field "{name}" of the request "{word}"')
violations += [f'{README}: `{name}` needs no exception any more' for name in sorted(left_out - used)]
end(violations, f'{len(verbs)} verbs, {len(fields)} requests, {len(routes)} with routes')
