#!/usr/bin/env python3
"""Runs the README's first command exactly as written: it shows what the README promises, ends, and leaves no file or process."""
import glob
import os
import subprocess
import tempfile

from command import SHORT, TOP, check, end

PROMISED = ['ballast hosts', 'ballast recommendations', 'ballast explain', 'ballast apply', 'ballast history', 'Done.']

with tempfile.TemporaryDirectory(dir=SHORT) as folder:
    done = subprocess.run(['./packaging/demo'], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1700,
                          check=False, env={**os.environ, 'TMPDIR': folder})
    check('exit code 0', done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:])
    for words in PROMISED:
        check(f'shows "{words}"', words in done.stdout)
    check('something was moved', ' done ' in done.stdout)
    check('no colour without a terminal', '\x1b' not in done.stdout)
    check('leaves no files', not os.listdir(folder), str(os.listdir(folder)))
    running = []
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            with open(path, 'rb') as f:
                words = f.read().decode(errors='replace')
        except OSError:
            continue
        if 'ballastd' in words and folder in words:
            running.append(words)
    check('leaves no process', not running, str(running))
end()
