#!/usr/bin/env python3
"""No call of a function that has no safe use: unchecked numbers, unbounded copies, hidden state, a shell. And no variable that is
released at the end of its scope without an initial value: an early return would release garbage."""
import re

from tree import code_of, end, files

BANNED = re.compile(r'(?<![\w.>])(atoi|atol|atoll|atof|strcpy|strcat|sprintf|vsprintf|strtok|localtime|gmtime|asctime|ctime|'
                    r'rand|srand|gets|system|popen|alloca|mktemp|tmpnam)\s*\(')

RELEASED_UNBORN = re.compile(r'CLEANUP\([^)]*\)[^=;]*;')

violations, n = [], 0
for path in files('.c', '.h'):
    n += 1
    for number, line in enumerate(code_of(path).splitlines(), 1):
        for match in BANNED.finditer(line):
            violations.append(f'{path}:{number}: {match.group(1)}() is banned')
        if RELEASED_UNBORN.search(line) and not line.lstrip().startswith('#define'):
            violations.append(f'{path}:{number}: released at the end of the scope, and not initialised: {line.strip()}')
end(violations, f'{n} C files')
