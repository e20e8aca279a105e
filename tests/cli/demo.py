#!/usr/bin/env python3
"""The README's second command, whose loads change by themselves; the first as a script does, with --no-wait; and the first exactly as written: it
shows what the README promises, waits with the dashboard until Enter, and leaves no file, no folder and no process. What is built is kept in between."""
import glob
import json
import os
import re
import subprocess
import tempfile
import urllib.request

from command import SHORT, TOP, check, end, wait_until

CHANGE = 0.02  # of a host's load, a fraction of its capacity
PROMISED = ['ballast hosts', 'ballast recommendations', 'ballast explain', 'ballast apply', 'ballast history', 'Done.']


def ask(address, token):
    request = urllib.request.Request(address, headers={'Authorization': f'Bearer {token}'})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode()


def loads_of(address, cluster, token):
    hosts = json.loads(ask(f'{address}api/v1/clusters/{cluster}/hosts', token))['hosts']
    return {h['name']: h['cpu']['load'] for h in hosts}


def look(folder, cluster, *options):
    """`packaging/demo` until its address is shown, what the address answers, then Enter. Its output."""
    name = ' '.join(('demo', *options))
    with subprocess.Popen(['./packaging/demo', *options], cwd=TOP, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, 'TMPDIR': folder}) as demo:
        text = ''
        for line in demo.stdout:
            text += line
            if line.startswith('Enter ends'):
                break
        found = re.search(r'(http://127\.0\.0\.1:\d+/)\n.*(ballast_\w+)', text)
        if check(f'{name}: an address and a token', found, text):
            look_at_dashboard(name, cluster, text, *found.groups(), changes='--live' in options)
        rest, _ = demo.communicate('\n', timeout=60)
        check(f'{name}: Enter ends it', demo.returncode == 0, text[-3000:] + rest)
        return text + rest


def look_at_dashboard(name, cluster, text, address, token, changes):
    loads = loads_of(address, cluster, token)
    check(f'{name}: its hosts', len(loads) >= 4 and all(0 <= v < 2 for v in loads.values()), str(loads))
    if 'was not built' not in text:
        check(f'{name}: the dashboard', '<script' in ask(address, token))
    if changes:
        check(f'{name}: the loads change by themselves', wait_until(lambda: max(abs(v - loads[h]) for h, v in
              loads_of(address, cluster, token).items()) > CHANGE, 60, 1), str(loads))


def check_story(name, text):
    for words in PROMISED:
        check(f'{name} shows "{words}"', words in text, text[-3000:])
    check(f'{name}: the recommendations once', text.count('$ ballast recommendations') == 1)
    check(f'{name}: something was moved', ' done ' in text)
    check(f'{name}: no colour without a terminal', '\x1b' not in text)


def built():
    """What a demo builds in the tree, if it is there."""
    return [name for name in ('build-demo', 'dashboard/node_modules', 'dashboard/dist') if (TOP / name).exists()]


with tempfile.TemporaryDirectory(dir=SHORT) as folder:
    before = built()
    look(folder, 'live', '--live', '--keep')
    check('--keep: the build stays', (TOP / 'build-demo/src/cli/ballast').exists())
    done = subprocess.run(['./packaging/demo', '--no-wait', '--keep'], cwd=TOP, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600,
                          check=False, env={**os.environ, 'TMPDIR': folder})
    check('--no-wait: exit code 0', done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:])
    check('--no-wait: nothing asks for Enter, and no address is given that is gone', 'Enter' not in done.stdout and 'http://' not in done.stdout)
    check_story('--no-wait', done.stdout)
    check('--keep: it says so', 'what was built: build-demo' in done.stdout, done.stdout[-300:])
    check_story('demo', look(folder, 'demo'))
    check('what it built is removed, and nothing else', built() == before, f'{before} {built()}')
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
