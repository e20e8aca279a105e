#!/usr/bin/env python3
"""Servers of OpenStack Nova that are there and move, by `ballast place --pipeline nova`: the bodies of POST /servers/ID/action, N1 of the table in
src/dialect/nova/README.md. tests/peers/test_nova_moves.py compares random ones with real Nova."""
import json

from command import check, end, run
from openstack_cloud import FLAVOR, cloud, group, listed

BIG = {**FLAVOR, 'id': 'big', 'name': 'm2', 'vcpus': 6}


def cloud_of(*servers, **more):
    """Three hosts with these servers, and no new one."""
    of = cloud(servers=list(servers), images=[{'id': 'i', 'properties': {}}, {'id': 'arm', 'properties': {'hw_architecture': 'aarch64'}}], **more)
    del of['server']
    return {**of, 'flavors': [*of['flavors'], BIG]}


def with_hosts(of, **more):
    """The hypervisors with a member more each: h1 the first value, and so on."""
    for name, values in more.items():
        for h, value in zip(of['hypervisors'], values):
            h[name] = value
    return of


def asked(of, body, *options, server='a'):
    return run('place', '--pipeline', 'nova', '--request', '-', *options, stdin=json.dumps({**of, 'server_id': server, **body}))


def hosts(what, of, body, wanted, **more):
    """All hosts to which the server may go."""
    done = asked(of, body, '--format', 'json', **more)
    places = [r for r in json.loads(done.stdout or '{"recommendations": []}')['recommendations'] if r['action'] == 'place']
    found = sorted([r['to'] for r in places] + [a['host'] for r in places for a in r.get('alternatives') or []])
    check(what, found == wanted and done.returncode == (0 if wanted else 1), f'{found} {done.returncode} {done.stderr}')


def refused(part, of, body, **more):
    done = asked(of, body, **more)
    check(part, done.returncode == 2 and part in done.stderr, f'{done.returncode} {done.stderr}')


def test_request():
    of = cloud_of(listed('a', 'h1', name='web'), listed('b', 'h2', name='db'), listed('c', 'h2', name='db'))
    refused('/server_id: missing', of, {'migrate': None}, server=None)
    refused('/server_id: "x" is the id, or the only name, of none', of, {'migrate': None}, server='x')
    refused('/server_id: "db" is the id, or the only name, of none', of, {'migrate': None}, server='db')
    hosts('by its name', of, {'migrate': None}, ['h2', 'h3'], server='web')
    refused('/resize: given beside migrate', of, {'migrate': None, 'resize': {'flavorRef': 'big'}})
    refused('/migrate/hots: not known, expected host', of, {'migrate': {'hots': 'h2'}})
    refused('/resize: expected an object', of, {'resize': None})
    refused('/server: given', of, {'migrate': None, 'server': {'flavorRef': 'f'}})
    done = run('place', '--pipeline', 'nova', '--request', '-', '--num-instances', '2', stdin=json.dumps({**of, 'server_id': 'a', 'migrate': None}))
    check('many', done.returncode == 2 and 'request to migrate a server' in done.stderr, done.stderr)
    done = run('fit', 'check', '-', stdin=json.dumps({**of, 'server_id': 'a'}))
    check('no action', done.returncode == 2 and '/server_id: given, expected with migrate' in done.stderr, done.stderr)
    said = asked(of, {'os-migrateLive': {'host': 'h3', 'block_migration': 'auto'}}).stdout
    check('what is done', said.startswith('web can be migrated live to h3.'), said)
    busy = {'diagnostics': {'cpu_details': [{'utilisation': 10}], 'memory_details': {'used': 512}}}
    hosts('without a move of itself', cloud_of(listed('a', 'h1', **busy), listed('b', 'h2', **busy)), {'migrate': None}, ['h2', 'h3'])


def test_migrate():
    """Not back to its host, unless the host can; within its cell, unless it may leave it."""
    of = cloud_of(listed('a', 'h1'), listed('s', 'h1', status='SHUTOFF'), listed('p', 'h1', status='PAUSED'))
    hosts('any other', of, {'migrate': None}, ['h2', 'h3'])
    hosts('any other by an empty body', of, {'migrate': {}}, ['h2', 'h3'])
    hosts('a stopped one', of, {'migrate': None}, ['h2', 'h3'], server='s')
    hosts('named', of, {'migrate': {'host': 'h3'}}, ['h3'])
    refused("/migrate/host: is the server's own", of, {'migrate': {'host': 'h1'}})
    refused('/migrate/host: expected the host of one of hypervisors', of, {'migrate': {'host': 'h9'}})
    refused('/servers/2/status: "PAUSED", expected one of ACTIVE SHUTOFF', of, {'migrate': None}, server='p')
    hosts('named, and disabled', with_hosts(cloud_of(listed('a', 'h1')), status=['enabled', 'enabled', 'disabled']), {'migrate': {'host': 'h3'}}, [])
    same = with_hosts(cloud_of(listed('a', 'h1')), traits=[['COMPUTE_SAME_HOST_COLD_MIGRATE'], [], []])
    hosts('the same host', same, {'migrate': None}, ['h1', 'h2', 'h3'])
    cells = with_hosts(cloud_of(listed('a', 'h1')), cell_uuid=['c1', 'c2', 'c1'])
    hosts('in its cell', cells, {'migrate': None}, ['h3'])
    hosts('in its disabled cell', {**cells, 'cells': [{'uuid': 'c1', 'disabled': True}]}, {'migrate': None}, ['h3'])
    hosts('to another cell', {**cells, 'requested_destination': {'allow_cross_cell_move': True}}, {'migrate': None}, ['h2', 'h3'])


def test_live():
    """To a hypervisor of the same type that is not older; by force past filters, but not past what the target has left."""
    live = lambda **more: {'os-migrateLive': {'block_migration': 'auto', 'host': None, **more}}  # noqa: E731
    of = with_hosts(cloud_of(listed('a', 'h2')), hypervisor_type=['QEMU', 'QEMU', 'QEMU'], hypervisor_version=[6002000, 7000000, 7000001])
    hosts('not older', of, live(), ['h3'])
    hosts('older by the option', {**of, 'nova.conf': of['nova.conf'] + '[workarounds]\nskip_hypervisor_version_check_on_lm = true\n'}, live(), ['h1', 'h3'])
    hosts('another type', with_hosts(json.loads(json.dumps(of)), hypervisor_type=['QEMU', 'QEMU', 'VMware']), live(), [])
    of = with_hosts(cloud_of(listed('a', 'h1'), listed('s', 'h1', status='SHUTOFF'), listed('b', 'h3', flavor={'id': 'big'}, status='SHUTOFF')),
                    status=['enabled', 'enabled', 'disabled'], state=['up', 'down', 'up'])
    hosts('disabled', of, live(host='h3'), [])
    hosts('forced', of, live(host='h3', force=True), ['h3'])
    hosts('forced to what is full', {**of, 'nova.conf': of['nova.conf'].replace('= 16', '= 1')}, live(host='h3', force='true'), [])
    refused('/os-migrateLive/host: its compute service is down', of, live(host='h2', force=True))
    refused('/os-migrateLive/force: true without a host', of, live(force=True))
    refused('/os-migrateLive/force: expected true or false', of, live(host='h3', force='maybe'))
    refused('/servers/1/status: "SHUTOFF", expected one of ACTIVE PAUSED', of, live(), server='s')
    refused('/os-migrateLive: the compute service of the server is down', with_hosts(of, state=['down', 'up', 'up']), live())


def test_resize():
    """The old flavour counts where the server is, the new one where it comes, also if that is the same host."""
    of = cloud_of(listed('a', 'h1'), flavor={'vcpus': 2})
    of['nova.conf'] = of['nova.conf'].replace('= 16', '= 1')
    resize = {'resize': {'flavorRef': 'big', 'OS-DCF:diskConfig': 'AUTO'}}
    hosts('to another host', of, resize, ['h2', 'h3'])
    same = {**of, 'nova.conf': of['nova.conf'].replace('[DEFAULT]', '[DEFAULT]\nallow_resize_to_same_host = true')}
    hosts('at the same host: 2 + 6 vCPUs of 8', same, resize, ['h1', 'h2', 'h3'])
    same['flavors'][0]['vcpus'] = 3
    hosts('not at the same host: 3 + 6 vCPUs of 8', same, resize, ['h2', 'h3'])
    hosts('by the filters of the new flavour', {**of, 'flavors': [of['flavors'][0], {**BIG, 'extra_specs': {'trait:CUSTOM_T': 'required'}}],
                                                'hypervisors': [{**h, 'traits': ['CUSTOM_T'] if h['hypervisor_hostname'] == 'h3' else []} for h in of['hypervisors']]}, resize, ['h3'])
    same['flavors'][1] = {**BIG, 'extra_specs': {'trait:CUSTOM_T': 'required'}}
    hosts('not by moving what it has there', with_hosts(same, traits=[['CUSTOM_T'], [], []]), resize, [])
    refused('/resize/flavorRef: is the flavor that the server has', of, {'resize': {'flavorRef': 'f'}})
    refused('/resize/flavorRef: "x" is not in flavors', of, {'resize': {'flavorRef': 'x'}})
    refused('/resize/flavorRef: missing', of, {'resize': {}})
    disk = cloud_of(listed('a', 'h1', image={'id': 'i'}), flavor={'disk': 10})
    refused('/resize/flavorRef: has no disk', disk, resize)
    hosts('no disk of a volume', cloud_of(listed('a', 'h1', image=''), flavor={'disk': 10}), resize, ['h2', 'h3'])


def test_evacuate():
    """From a host that is down; to the named host, with force past all filters, though not past what it has left."""
    of = with_hosts(cloud_of(listed('a', 'h1'), listed('e', 'h1', status='ERROR'), listed('b', 'h3', flavor={'id': 'big'}, status='SHUTOFF')), state=['down', 'up', 'up'],
                    status=['enabled', 'enabled', 'disabled'])
    hosts('any other', of, {'evacuate': {}}, ['h2'])
    hosts('one in the status ERROR', of, {'evacuate': {}}, ['h2'], server='e')
    hosts('named', of, {'evacuate': {'host': 'h2', 'onSharedStorage': 'False'}}, ['h2'])
    hosts('named, and disabled', of, {'evacuate': {'host': 'h3', 'force': False}}, [])
    hosts('forced', of, {'evacuate': {'host': 'h3', 'force': True}}, ['h3'])
    hosts('forced to what is full', {**of, 'nova.conf': of['nova.conf'].replace('= 16', '= 1')}, {'evacuate': {'host': 'h3', 'force': True}}, [])
    refused('/evacuate/force: true without a host', of, {'evacuate': {'force': True}})
    refused("/evacuate/host: is the server's own", of, {'evacuate': {'host': 'h1'}})
    refused('/evacuate: the compute service of the server is up', with_hosts(of, state=['up', 'up', 'up']), {'evacuate': {}})


def test_unshelve():
    """A server that is offloaded takes nothing where it was; it comes into its zone, another, or any."""
    zones = [{'id': 1, 'name': 'east', 'hosts': ['h1', 'h2'], 'metadata': {'availability_zone': 'east'}},
             {'id': 2, 'name': 'west', 'hosts': ['h3'], 'metadata': {'availability_zone': 'west'}}]
    off = listed('a', 'h1', status='SHELVED_OFFLOADED', flavor={'id': 'big'}, pinned_availability_zone='east')
    of = cloud_of(off, listed('s', 'h2', status='SHELVED'), aggregates=zones)
    hosts('in its zone', of, {'unshelve': None}, ['h1', 'h2'])
    hosts('takes nothing', {**of, 'nova.conf': of['nova.conf'].replace('= 16', '= 1')}, {'unshelve': None}, ['h1'])
    hosts('in another zone', of, {'unshelve': {'availability_zone': 'west'}}, ['h3'])
    hosts('in any zone', of, {'unshelve': {'availability_zone': None}}, ['h1', 'h2', 'h3'])
    hosts('at a host', of, {'unshelve': {'host': 'h2'}}, ['h2'])
    hosts('at a host of no zone of its own', of, {'unshelve': {'host': 'h3'}}, [])
    hosts('at a host of another zone', of, {'unshelve': {'availability_zone': 'west', 'host': 'h3'}}, ['h3'])
    refused('/unshelve/availability_zone: expected the zone of an aggregate', of, {'unshelve': {'availability_zone': 'north'}})
    hosts('where it is', with_hosts(of, status=['enabled', 'disabled', 'enabled']), {'unshelve': None}, ['h2'], server='s')
    refused('/unshelve: the server is on a host yet', of, {'unshelve': {'host': 'h3'}}, server='s')
    refused('/servers/0/status: "ACTIVE"', cloud_of(listed('a', 'h1')), {'unshelve': None})


def test_rebuild():
    """Where it is: with another image only filters about images are asked, with its own none."""
    of = with_hosts(cloud_of(listed('a', 'h1', image={'id': 'i'}), filters='ComputeFilter,ImagePropertiesFilter'), status=['disabled', 'enabled', 'enabled'],
                    supported_instances=[[['x86_64', 'kvm', 'hvm']]] * 3)
    hosts('its image', of, {'rebuild': {'imageRef': 'i'}}, ['h1'])
    hosts('an image for another architecture', of, {'rebuild': {'imageRef': 'arm'}}, [])
    of['images'].append({'id': 'new', 'properties': {'hw_architecture': 'x86_64'}})
    hosts('another image', of, {'rebuild': {'imageRef': 'http://192.0.2.1/v2/images/new'}}, ['h1'])
    of['images'].append({'id': 'picky', 'properties': {'trait:CUSTOM_T': 'required'}})
    hosts('an image that wants a trait', of, {'rebuild': {'imageRef': 'picky'}}, [])
    refused('/rebuild/imageRef: missing', of, {'rebuild': {}})
    refused('/rebuild/imageRef: "x" is not in images', of, {'rebuild': {'imageRef': 'x'}})


def test_groups():
    """Members apart do not come together, and the host where one is passes for it; members together go where another is."""
    apart = {**cloud_of(listed('a', 'h1'), listed('b', 'h2'), listed('c', 'h1'), filters='ServerGroupAntiAffinityFilter'), **group('anti-affinity', 'abc')}
    del apart['os:scheduler_hints']
    hosts('apart', apart, {'migrate': None}, ['h3'])
    same = {**apart, 'nova.conf': apart['nova.conf'].replace('[DEFAULT]', '[DEFAULT]\nallow_resize_to_same_host = true')}
    hosts('the own host passes', same, {'resize': {'flavorRef': 'big'}}, ['h1', 'h3'])
    joined = {**cloud_of(listed('a', 'h1'), listed('b', 'h2'), filters='ServerGroupAffinityFilter'), **group('affinity', 'ab')}
    del joined['os:scheduler_hints']
    hosts('affine', joined, {'migrate': None}, ['h2'])
    alone = {**cloud_of(listed('a', 'h1'), filters='ServerGroupAffinityFilter'), **group('affinity', 'a')}
    del alone['os:scheduler_hints']
    hosts('alone', alone, {'migrate': None}, [])


for name, test in sorted(globals().items()):
    if name.startswith('test_'):
        test()
end()
