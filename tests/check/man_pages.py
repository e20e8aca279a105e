#!/usr/bin/env python3
"""mandoc -T lint accepts the manual pages."""
import re
import subprocess

from tree import BUILD, ROOT, end

SOURCES = ROOT / 'packaging/man'
BUILT = BUILD / 'packaging/man'
# Whether other pages are installed here says nothing about these.
ELSEWHERE = re.compile(r'STYLE: referenced manual not found|outdated mandoc.db')

pages = sorted(SOURCES.glob('*.[1-8]')) + sorted(BUILT.glob('*.[1-8]'))
violations = [f'packaging/man: {source.stem} was not built' for source in SOURCES.glob('*.in') if not (BUILT / source.stem).exists()]
for page in pages:
    done = subprocess.run(['mandoc', '-T', 'lint', '-W', 'style', page], capture_output=True, text=True, check=False)
    violations += [line for line in (done.stdout + done.stderr).splitlines() if not ELSEWHERE.search(line)]
end(violations, f'{len(pages)} pages')
