#!/usr/bin/env python3
"""Runs the README's first command exactly as written: it shows what the README promises, ends, and leaves no file or process.
Then the second one, and asks the dashboard's address while it waits."""
import glob
import json
import os
import re
import subprocess
import tempfile
import urllib.request

from command import SHORT, TOP, check, end

PROMISED = ['ballast hosts', 'ballast recommendations', 'ballast explain', 'ballast apply', 'ballast history', 'The dashboard: http://127.0.0.1:', 'Done.']


def ask(address, token):
    request = urllib.request.Request(address, headers={'Authorization': f'Bearer {token}'})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def look_at_live(folder):
    """`packaging/demo --live` until its address is shown, what the address answers, then Enter."""
    with subprocess.Popen(['./packaging/demo', '--live'], cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'TMPDIR': folder}) as demo:
        text = ''
        for line in demo.stdout:
            text += line
            if line.startswith('Enter ends'):
                break
        found = re.search(r'(http://127\.0\.0\.1:\d+/)\n.*(ballast_\w+)', text)
        if check('--live: an address and a token', found, text):
            address, token = found.groups()
            hosts = json.loads(ask(f'{address}api/v1/clusters/live/hosts', token))['hosts']
            check('--live: its hosts', len(hosts) == 10, str(hosts))
            if 'was not built' not in text:
                check('--live: the dashboard', '<script' in ask(address, token))
        demo.communicate('\n', timeout=60)
        check('--live: Enter ends it', demo.returncode == 0)

with tempfile.TemporaryDirectory(dir=SHORT) as folder:
    done = subprocess.run(['./packaging/demo'], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1700,
                          check=False, env={**os.environ, 'TMPDIR': folder})
    check('exit code 0', done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:])
    for words in PROMISED:
        check(f'shows "{words}"', words in done.stdout)
    check('something was moved', ' done ' in done.stdout)
    check('no colour without a terminal', '\x1b' not in done.stdout)
    look_at_live(folder)
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
