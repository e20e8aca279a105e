#!/usr/bin/env python3
"""The core decides and has no other effect: proved from the symbols that it needs.

Every outside symbol of libcore.a must come from base, model or a short list of libc functions without side effects. And no code
below the engine asks for the time: model, core and render call no function that gives it.
"""
import subprocess

from tree import BUILD, SKIPPED, end

MAY_USE = set("""
    memchr memcmp memcpy memmove memset strcmp strlen strncmp strchr strcspn strspn
    qsort qsort_r bsearch
    sqrt erf erfc exp log log2 pow floor ceil round fabs fmax fmin hypot nextafter lround llround
    __memcpy_chk __memmove_chk __memset_chk
    __assert_fail __stack_chk_fail _GLOBAL_OFFSET_TABLE_
""".split())  # __…_chk: by _FORTIFY_SOURCE
NOT_OF_BASE = ('log_', 'arena_printf', 'strbuf_', 'rfc3339_')  # base has a log and text, for those who may use them
CLOCKS = set('time clock clock_gettime gettimeofday localtime localtime_r gmtime gmtime_r nanosleep sleep usleep'.split())


def symbols(archive, *options):
    out = subprocess.run(['nm', '-A', *options, archive], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split('@')[0]: line.split(':')[1] for line in out.splitlines() if line.strip()}


def archive(name):
    return BUILD / 'src' / name / f'lib{name}.a'


if not archive('core').exists():
    print('the core is not built')
    raise SystemExit(SKIPPED)

inside = set(symbols(archive('core'), '--defined-only'))
lent = {s for name in ('base', 'model') for s in symbols(archive(name), '--defined-only')
        if not s.startswith(NOT_OF_BASE)}
needed = symbols(archive('core'), '--undefined-only')
violations = [f'core: {where} uses {symbol}' for symbol, where in sorted(needed.items())
              if symbol not in inside | lent | MAY_USE]
for name in ('model', 'core', 'render'):
    if archive(name).exists():
        violations += [f'{name}: {where} asks for the time with {symbol}'
                       for symbol, where in symbols(archive(name), '--undefined-only').items() if symbol in CLOCKS]
end(violations, f'{len(needed)} symbols that the core takes from outside')
