#!/usr/bin/env python3
"""No call of what has no safe use: unchecked numbers, unbounded copies, hidden state, a shell."""
import re

from tree import code_of, end, files

BANNED = re.compile(r'(?<![\w.>])(atoi|atol|atoll|atof|strcpy|strcat|sprintf|vsprintf|strtok|localtime|gmtime|asctime|ctime|'
                    r'rand|srand|gets|system|popen|alloca|mktemp|tmpnam)\s*\(')

violations, n = [], 0
for path in files('.c', '.h'):
    n += 1
    for number, line in enumerate(code_of(path).splitlines(), 1):
        for match in BANNED.finditer(line):
            violations.append(f'{path}:{number}: {match.group(1)}() is banned')
end(violations, f'{n} C files')
