#!/usr/bin/env python3
"""ballast maintenance roll: one host after another is emptied, handed over, checked and refilled."""
import json
import os
import signal
import subprocess
import time

from command import BALLAST, Service, check, end, run, wait_until
from at_once import run_tests  # in the folder above, which `command` makes known


def cluster(vm_mb=1024, hosts=3):
    """Two VMs on each host of 8 GiB."""
    return {'format': 'ballast-snapshot/1', 'cluster': 'lab', 'time': '2026-01-01T00:00:00Z',
            'hosts': [{'id': f'h{i}', 'name': f'esx{i}', 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 8192}
                      for i in range(1, hosts + 1)],
            'vms': [{'id': f'v{i}{k}', 'host': f'h{i}', 'state': 'on', 'vcpus': 1, 'mem_mb': vm_mb, 'cpu': {'demand': 500},
                     'mem': {'demand': vm_mb / 2, 'consumed': vm_mb}} for i in range(1, hosts + 1) for k in 'ab']}


def service(snapshot, **settings):
    s = Service(interval_s=2, **{'automation': 'full', **settings})
    (s.folder / 'cluster.json').write_text(json.dumps(snapshot), encoding='utf-8')
    s.configure(f'kind: sim\n  speed: 1000\n  file: {s.folder}/cluster.json\n  folder: {s.folder}/sim', interval_s=2,
                **{'automation': 'full', **settings})
    check('it starts', s.start(), s.log_text())
    return s


def roll_of(s):
    return s.ask_json('maintenance', 'roll') or {}


def step_of(s, host):
    return next((h['step'] for h in roll_of(s).get('hosts', []) if h['id'] == host), None)


def host_states(s):
    return {h['id']: h['state'] for h in s.ask_json('hosts')}


def drive(s, *arguments):
    return subprocess.Popen([BALLAST, 'maintenance', 'roll', *arguments, '--socket', str(s.socket)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, start_new_session=True)


def test_command():
    """The command runs for each host, when it is in maintenance and empty, and never for two at once."""
    with service(cluster()) as s:
        script = (f'test "$(ls {s.folder}/busy 2>/dev/null)" = "" && mkdir {s.folder}/busy && sleep 1 && '
                  f'echo $BALLAST_HOST $BALLAST_HOST_ID >> {s.folder}/done && rmdir {s.folder}/busy')
        out, err = drive(s, 'esx1', 'h2', 'h3', '--run', script).communicate(timeout=180)
        check('each host had its turn', (s.folder / 'done').read_text(encoding='utf-8') == 'esx1 h1\nesx2 h2\nesx3 h3\n', out + err)
        check('it is over', 'over since' in ' '.join(out.split()) and out.count(' done ') == 3, out)
        check('all hosts are back', set(host_states(s).values()) == {'on'}, str(host_states(s)))
        check('steps are told on the way', 'esx1 handed_over, esx2 waiting' in err, err)
        kinds = [a['action'] for a in s.ask_json('history')]
        check('history has the hosts', kinds.count('enter_maintenance') == 3 and kinds.count('exit_maintenance') == 3, str(kinds))
        text = s.ask('events', '--kind', 'maintenance_roll').stdout
        check('events tell of it', all(words in ' '.join(text.split()) for words in ('a roll of maintenance begins', 'the roll of maintenance is over')), text)


def test_interrupted():
    """The command is killed; the roll stays where it was, and another command takes it up."""
    with service(cluster()) as s:
        client = drive(s, 'h1', 'h2', '--run', 'sleep 300')
        check('the first is handed over', wait_until(lambda: step_of(s, 'h1') == 'handed_over', 60), str(roll_of(s)))
        os.killpg(client.pid, signal.SIGKILL)
        client.wait()
        check('the host stays handed over', step_of(s, 'h1') == 'handed_over' and step_of(s, 'h2') == 'waiting', str(roll_of(s)))
        check('another one is refused', run('maintenance', 'roll', 'h3', socket=s.socket).returncode == 1)
        client = drive(s, '--run', f'echo $BALLAST_HOST >> {s.folder}/done')
        out, err = client.communicate(timeout=120)
        check('it ends', client.returncode == 0 and 'over since' in ' '.join(out.split()), out + err)
        check('both had their turn', (s.folder / 'done').read_text(encoding='utf-8') == 'esx1\nesx2\n')


def test_failing_command():
    """It stops at the first failure; the host stays in maintenance, the next one is not begun."""
    with service(cluster()) as s:
        client = drive(s, 'h1', 'h2', '--run', 'exit 7')
        out, err = client.communicate(timeout=120)
        check('exit code', client.returncode == 1 and 'ended with 7' in err, f'{client.returncode} {out} {err}')
        states = host_states(s)
        check('hosts stay as they are', states['h1'] == 'maintenance' and states['h2'] == 'on', str(states))
        text = s.ask('status').stdout
        check('status says why', 'STOPPED, the command for host h1 ended with 7' in text, text)
        check('the rest waits', step_of(s, 'h2') == 'waiting')
        check('stop has nothing to end', s.ask('maintenance', 'stop').returncode == 2)


def test_by_hand():
    """Without a command a person ends the maintenance of each host."""
    with service(cluster()) as s:
        done = s.ask('maintenance', 'roll', 'h1', 'h2')
        check('it begins', done.returncode == 0 and 'esx1' in done.stdout, done.stdout + done.stderr)
        check('handed over', wait_until(lambda: step_of(s, 'h1') == 'handed_over', 60), str(roll_of(s)))
        check('one at a time', step_of(s, 'h2') == 'waiting')
        ended = s.ask('maintenance', 'exit', 'h1')
        check('ended', ended.returncode == 0, ended.stdout + ended.stderr)
        check('the next one', wait_until(lambda: step_of(s, 'h2') == 'handed_over', 60) and step_of(s, 'h1') == 'done', str(roll_of(s)))
        check('stopped', s.ask('maintenance', 'stop').returncode == 0)
        check('by whom', 'ended by ' in roll_of(s)['failed'])


def test_no_room():
    """A host whose VMs have no room elsewhere is not begun, and it is said why."""
    with service(cluster(vm_mb=3500)) as s:
        driver = drive(s, 'h1', 'h2', '--at-once', '2', '--run', 'true')
        check('it waits', wait_until(lambda: (roll_of(s) or {}).get('waits'), 30), str(roll_of(s)))
        check('and says why', 'host esx1 waits: ' in roll_of(s)['waits'], roll_of(s)['waits'])
        check('nothing is begun', step_of(s, 'h1') == 'waiting' and set(host_states(s).values()) == {'on'})
        time.sleep(2)  # for the driver's next look
        s.ask('maintenance', 'stop')
        err = driver.communicate(timeout=60)[1]
        check('the driver says it once', 'esx2 waiting; host esx1 waits: ' in ' '.join(err.split()) and
              'esx1 waiting, esx2 waiting; host' not in ' '.join(err.split()), err)
        check('on lines that fit', max(map(len, err.splitlines())) <= 80, err)
    with service(cluster(vm_mb=1800)) as s:  # for one host there is room
        s.ask('maintenance', 'roll', 'h1', 'h2', '--at-once', '2')
        check('one is emptied', wait_until(lambda: step_of(s, 'h1') == 'handed_over', 60), str(roll_of(s)))
        check('the other one waits', step_of(s, 'h2') == 'waiting' and 'host esx2 waits: ' in roll_of(s)['waits'], str(roll_of(s)))


def test_wrong_usage():
    with service(cluster()) as s:
        for arguments, code, words in ((('roll', 'h9'), 2, 'no host has the id or name "h9"'), (('roll', 'h1', 'esx1'), 2, 'named twice'),
                                       (('roll', 'h1', '--at-once', '0'), 2, 'from 1 to 1000'),
                                       (('enter', 'h1', 'h2'), 2, 'expected one host'), (('enter', 'h1', '--run', 'true'), 2, 'roll only'),
                                       (('stop', 'h1'), 2, 'no host is expected'), (('roll', '--run', 'true'), 2, 'no roll is in progress')):
            done = s.ask('maintenance', *arguments)
            check(' '.join(arguments), done.returncode == code and words in done.stderr, f'{done.returncode} {done.stderr}')
        check('none yet', s.ask('maintenance', 'roll').stdout == 'no roll of maintenance\n')


check('every part came to its end', run_tests(globals()) == 0)
end()
