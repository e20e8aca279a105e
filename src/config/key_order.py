#!/usr/bin/env python3
"""The keys of conf/ballast.yaml in its order, as a table in C: key_order.py FILE

A key that is commented out stands behind a # in the first column, with its own indentation; text stands behind "# "."""
import re
import sys

KEY = re.compile(r'#?(?P<indent>(?:  )*)(?P<key>[a-z]\w*):(?: .*)?$')

above = []
print('#include "config/key_order.h"\n\n#include <stddef.h>\n\nconst char *const config_key_order[] = {')
with open(sys.argv[1], encoding='utf-8') as file:
    for line in file:
        if key := KEY.match(line.rstrip('\n')):
            above = [*above[:len(key['indent']) // 2], key['key']]
            print(f'    "{".".join(above)}",')
print('    NULL,\n};')
