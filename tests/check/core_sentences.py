#!/usr/bin/env python3
"""The core gives reasons as codes and figures: no string in src/core is a sentence or a part of one.

src/render/wording makes sentences of them. The text of an error (err_set) is for a caller that made a mistake, and stays."""
import re

from tree import blank, end, files, text_of

STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
COMMENT = re.compile(r'/\*.*?\*/', re.S)
ERROR = re.compile(r'\berr_set\((?:[^;"]|"(?:[^"\\]|\\.)*")*;', re.S)
NAME = re.compile(r'"[a-z0-9_.]*"')

violations, n = [], 0
for path in files('.c', '.h', under='src/core'):
    n += 1
    text = text_of(path)
    for part in COMMENT, ERROR:
        text = part.sub(blank, text)
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(('#include', 'assert(', 'static_assert(')):
            continue
        violations += [f'{path}:{number}: {s} is words' for s in STRING.findall(line) if not NAME.fullmatch(s)]
end(violations, f'{n} files of the core')
