#!/usr/bin/env python3
"""Clouds of OpenStack Nova at the command line: files and folders, requests of one and of many, server groups, what hosts have left.
Numbers N are those of the table in src/dialect/nova/README.md."""
import json
import os
import resource
import tempfile

from command import TOP, check, end, run
from openstack_cloud import FLAVOR, cloud, group, listed, place

# ---- files ----

def test_files():
    """A folder, several files and one document are the same cloud."""
    of = cloud(aggregates=[{'id': 1, 'name': 'a', 'hosts': ['h1'], 'metadata': {}}])
    request = {'server': of.pop('server')}
    whole = run('fit', 'compile', '-', stdin=json.dumps(of)).stdout
    with tempfile.TemporaryDirectory() as folder:
        def write(name, content):
            path = os.path.join(folder, name)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(content)
            return path

        check('an empty folder', run('fit', 'check', folder).returncode == 2)
        paths = [write('nova.conf', of['nova.conf']), write('hypervisors.json', json.dumps({'hypervisors': of['hypervisors']})),
                 write('flavors.json', json.dumps(of['flavors'])), write('aggregates.json', json.dumps({'aggregates': of['aggregates']}))]
        write('notes.txt', 'not read')
        check('a folder', run('fit', 'compile', folder).stdout == whole)
        check('several files', run('fit', 'compile', *paths).stdout == whole)
        asked = write('.request', json.dumps(request))
        done = run('place', '--pipeline', 'nova', '--cloud', folder, '--request', asked, '--num-instances', '2', '--format', 'json')
        check('a request beside its cloud', len(json.loads(done.stdout)['recommendations']) == 2, done.stderr)
        done = run('fit', 'check', folder, paths[1])
        check('a list twice', done.returncode == 2 and '"hypervisors" is in another file' in done.stderr, done.stderr)
        write('wrong.json', '3')
        check('neither object nor list', run('fit', 'check', folder).returncode == 2)
    check('the example', run('fit', 'check', TOP / 'conf/examples/nova').stdout.startswith('ok: hosts 9'))


def test_usage():
    of = json.dumps(cloud())
    for arguments, part in ((['--request', '-', 'v1'], '--request has no meaning without --pipeline'), (['--pipeline', 'nova'], '--request FILE'),
                            (['--pipeline', 'flexiant', '--request', '-'], 'expected nova or ovirt'), (['--pipeline', 'nova', '--request', '-', '--num-instances', '0'], 'at least 1'),
                            (['--pipeline', 'nova', '--request', '-', '--snapshot', 'x'], '--snapshot has no meaning with --pipeline')):
        done = run('place', *arguments, stdin=of)
        check(f'place {arguments}', done.returncode == 2 and part in done.stderr, done.stderr)
    done = run('place', '--pipeline', 'nova', '--request', '-', stdin='{}')
    check('no server', done.returncode == 2 and '/server: missing' in done.stderr, done.stderr)


def test_what_an_admin_brings():
    """Answers of the API as they are: parts of lists, figures that newer versions leave out; what is misspelt is not passed over."""
    def refused(part, **more):
        done = run('fit', 'check', '-', stdin=json.dumps({**cloud(), **more}))
        check(part, done.returncode == 2 and part in done.stderr, done.stderr)

    refused('agregates: not known', agregates=[])
    refused('aggregates: expected a list', aggregates={'aggregates': []})
    refused('images/0: expected an object', images=['i'])
    refused('os:scheduler_hints: expected an object', **{'os:scheduler_hints': []})
    refused('next: the list goes on', images=[], next='/v2/images?marker=i')
    refused('servers_links: the list goes on', servers=[], servers_links=[{'rel': 'next', 'href': 'http://192.0.2.1/servers?marker=a'}])
    refused('server/imageRef: "i" is not in images', images=[], server={**cloud()['server'], 'imageRef': 'i'})
    refused('/group: expected the id', **{'os:scheduler_hints': {'group': ['g']}})
    refused('min_count', server={**cloud()['server'], 'min_count': 3, 'max_count': 2})
    refused('hypervisors/0/memory_mb: missing', hypervisors=[{'hypervisor_hostname': 'h1'}])
    check('the answer of images', run('fit', 'check', '-', stdin=json.dumps({**cloud(), 'images': [], 'first': '/v2/images', 'schema': '/v2'})).returncode == 0)
    check('min_count', place(cloud(server={'min_count': 2})) == ['h1', 'h2'])
    for name in ('os:scheduler_hints', 'OS-SCH-HNT:scheduler_hints'):
        of = cloud(filters='SameHostFilter', servers=[listed('a', 'h2')])
        check(name, place({**of, name: {'same_host': 'a'}}) == ['h2'])
    of = cloud(filters='SameHostFilter', servers=[listed('a', 'h2')], server={'os:scheduler_hints': {'same_host': 'a'}})
    check('hints in the server', place(of) == ['h2'])
    of = cloud(flavor={'vcpus': 6})
    of['hypervisors'] = [{'hypervisor_hostname': f'h{i}', 'usages': {'usages': {'VCPU': used}}, 'inventories': {'inventories': {
        'VCPU': {'total': 8, 'allocation_ratio': 1.0}, 'MEMORY_MB': {'total': 65536, 'reserved': 512, 'allocation_ratio': 1.0}}}} for i, used in ((1, 4), (2, 0))]
    of['nova.conf'] = '[filter_scheduler]\nenabled_filters = ComputeFilter\n'
    check('hypervisors without figures', place(of, 2, 1) == ['h2'])


# ---- N7 ----

def test_available_filters():
    """N7: repeated options; a filter that is enabled and not available."""
    conf = '[filter_scheduler]\navailable_filters = nova.scheduler.filters.compute_filter.ComputeFilter\navailable_filters = own.OwnFilter\nenabled_filters = '
    check('available', run('fit', 'check', '-', stdin=json.dumps({**cloud(), 'nova.conf': conf + 'ComputeFilter'})).returncode == 0)
    done = run('fit', 'check', '-', stdin=json.dumps({**cloud(), 'nova.conf': conf + 'ComputeFilter, JsonFilter'}))
    check('not available', done.returncode == 2 and '"JsonFilter", which is not among available_filters' in done.stderr, done.stderr)


# ---- N25, N26: server groups ----

def test_apart():
    """Servers of one request stay apart, by the limit of their group, and from members that are there."""
    of = cloud(filters='ServerGroupAntiAffinityFilter', **group('anti-affinity'))
    check('three apart', place(of, 3) == ['h1', 'h2', 'h3'])
    check('a fourth finds no host', place(of, 4, 1) == ['h1', 'h2', 'h3'])
    of = cloud(filters='ServerGroupAntiAffinityFilter', **group('anti-affinity', ['a'], max_server_per_host=2), servers=[listed('a', 'h1')])
    check('two on a host', place(of, 5) == ['h1', 'h2', 'h2', 'h3', 'h3'])
    check('no more', place(of, 6, 1) == ['h1', 'h2', 'h2', 'h3', 'h3'])


def test_together():
    of = cloud(filters='ServerGroupAffinityFilter', **group('affinity'))
    check('three together', len(set(place(of, 3))) == 1)
    of = cloud(filters='ServerGroupAffinityFilter', **group('affinity', ['a', 'b']), servers=[listed('a', 'h2'), listed('b', 'h3')])
    check('where members are', set(place(of, 6)) <= {'h2', 'h3'})


def test_nothing_is_corrected():
    """Servers that break the policy of their group stay, as with Nova."""
    usage = {'diagnostics': {'cpu_details': [{'utilisation': 10}], 'memory_details': {'used': 512}}}
    for policy, hosts in (('anti-affinity', 'h1 h1'), ('affinity', 'h1 h2')):
        servers = [listed(name, host, **usage) for name, host in zip('ab', hosts.split())]
        of = cloud(filters='ServerGroupAntiAffinityFilter,ServerGroupAffinityFilter', servers=servers, **group(policy, 'ab'))
        compiled = run('fit', 'compile', '-', stdin=json.dumps(of)).stdout
        plan = json.loads(run('plan', '--snapshot', '-', '--format', 'json', stdin=compiled).stdout)
        check(f'{policy}: no move', plan['recommendations'] == [], plan['recommendations'])


# ---- N10, N11, N41, N43: what is left ----

def test_consumed():
    """Servers of one request see what those before them take."""
    of = cloud(flavor={'vcpus': 7}, options='reserved_host_cpus = 1')
    of['nova.conf'] = of['nova.conf'].replace('= 16', '= 1.5')
    check('vCPUs: (8 - 1) * 1.5 is 10.5', place(of, 4, 1) == ['h1', 'h2', 'h3'])
    check('memory', len(place(cloud(options='ram_allocation_ratio = 1.5', flavor={'ram': 40000}), 7, 1)) == 6)
    check('reserved memory', len(place(cloud(options='ram_allocation_ratio = 1.5\nreserved_host_memory_mb = 20000', flavor={'ram': 40000}), 4, 1)) == 3)
    check('disk', len(place(cloud(flavor={'disk': 40}, server={'imageRef': 'i'}), 7, 1)) == 6)
    check('no disk of a volume', len(place(cloud(flavor={'disk': 400}, server={'block_device_mapping_v2': [{'boot_index': 0, 'destination_type': 'volume'}]}), 1)) == 1)
    busy = [{'hypervisor_hostname': f'h{i}', 'vcpus': 8, 'memory_mb': 65536, 'stats': {'io_workload': '6', 'num_instances': '48'}} for i in (1, 2)]
    for name in ('IoOpsFilter', 'AggregateIoOpsFilter', 'NumInstancesFilter', 'AggregateNumInstancesFilter'):
        check(name, place(cloud(filters=name) | {'hypervisors': busy}, 5, 1) == ['h1', 'h1', 'h2', 'h2'])


def test_queries():
    """N21: a query reads what servers of the request before have left."""
    of = cloud(hosts=2, filters='JsonFilter', **{'os:scheduler_hints': {'query': '["and", [">=", "$free_ram_mb", 6144], ["<", "$num_instances", 9]]'}})
    for h, free in zip(of['hypervisors'], (8192, 6144)):
        h['free_ram_mb'] = free
    check('free memory', place(of, 4, 1) == ['h1', 'h1', 'h2'])


def test_stopped():
    """A stopped server keeps what it has: nothing goes to its place."""
    apart = cloud(filters='ServerGroupAntiAffinityFilter', **group('anti-affinity', 'a'), servers=[listed('a', 'h2', status='SHUTOFF')])
    check('a stopped member', place(apart, 3, 1) == ['h1', 'h3'])
    full = cloud(hosts=2, filters='NumInstancesFilter', servers=[listed('a', 'h1', status='SHUTOFF')])
    full['nova.conf'] += 'max_instances_per_host = 1\n'
    check('a stopped instance', place(full, 2, 1) == ['h2'])
    of = cloud(hosts=1, servers=[listed('a', 'h1', status='SHUTOFF')], flavor={'vcpus': 8})
    of['nova.conf'] = of['nova.conf'].replace('= 16', '= 1')
    check('its vCPUs', place(of, 1, 1) == [])
    check('as reported', place(of | {'servers': [], 'hypervisors': [{**of['hypervisors'][0], 'usages': {'usages': {'VCPU': 1}}}]}, 1, 1) == [])


# ---- N1, N44 ----

def test_where():
    """N1: a host that is named, with and without filters; N44: cells that are disabled."""
    down = cloud(hypervisors=[{'hypervisor_hostname': h, 'vcpus': 8, 'memory_mb': 65536, 'state': 'down' if h == 'h2' else 'up'} for h in ('h1', 'h2')])
    check('named', place(cloud(server={'host': 'h2'})) == ['h2'])
    check('named node', place(cloud(server={'hypervisor_hostname': 'h3'})) == ['h3'])
    check('named, and refused', place(down | {'server': {**down['server'], 'host': 'h2'}}, 1, 1) == [])
    check('forced', place(cloud(filters='JsonFilter', server={'availability_zone': 'nova:h3'}, **{'os:scheduler_hints': {'query': '["=", "$host", "h1"]'}})) == ['h3'])
    of = cloud(cells=[{'uuid': 'c1', 'disabled': True}, {'uuid': 'c2', 'disabled': False}])
    for h, cell in zip(of['hypervisors'], ('c1', 'c2', 'c1')):
        h['cell_uuid'] = cell
    check('enabled cells', place(of, 2) == ['h2', 'h2'])


# ---- the cloud as it is listed ----

def test_what_counts():
    """Servers that are deleted or offloaded take nothing, all others do."""
    def left(status):
        of = cloud(hosts=1, servers=[listed('a', 'h1', status=status)], flavor={'vcpus': 8}, filters='ServerGroupAntiAffinityFilter,NumInstancesFilter', **group('anti-affinity', 'a'))
        of['nova.conf'] = of['nova.conf'].replace('= 16', '= 1') + 'max_instances_per_host = 1\n'
        return place(of, 1, 0 if status in ('DELETED', 'SHELVED_OFFLOADED') else 1)

    for status in ('DELETED', 'SHELVED_OFFLOADED'):
        check(status, left(status) == ['h1'])
    for status in ('ACTIVE', 'SHUTOFF', 'ERROR', 'SOFT_DELETED', 'SHELVED', 'PAUSED', 'BUILD'):
        check(status, left(status) == [])
    of = cloud(servers=[listed('a', 'h1', status='DELETED')], filters='SameHostFilter', **{'os:scheduler_hints': {'same_host': 'a'}})
    check('no host of a deleted server', place(of, 1, 1) == [])


def test_names():
    """A host that is not there is named where it stands; servers of many by their names; what a request refers to, in each form; its project."""
    def refused(part, of, *options):
        done = run('place', '--pipeline', 'nova', '--request', '-', *options, stdin=json.dumps(of))
        check(part, done.returncode == 2 and part in done.stderr, done.stderr)

    refused('-: /servers/1/OS-EXT-SRV-ATTR:host: "h9" is the host of none of hypervisors', cloud(servers=[listed('a', 'h1'), listed('b', 'h9')]))
    refused('/servers/0/OS-EXT-SRV-ATTR:hypervisor_hostname: "n9" is none of hypervisors',
            cloud(servers=[{k: v for k, v in listed('a', 'h1').items() if not k.endswith(':host')} | {'OS-EXT-SRV-ATTR:hypervisor_hostname': 'n9'}]))
    refused('/aggregates/1/hosts/0: "h9" is the host of none', cloud(aggregates=[{'id': i, 'name': 'a', 'hosts': [h], 'metadata': {}} for i, h in ((1, 'h1'), (2, 'h9'))]))
    refused('/servers/0/os:scheduler_hints/group: "g" is not in server_groups', cloud(servers=[listed('a', 'h1', **{'os:scheduler_hints': {'group': 'g'}})]))
    plan = run('place', '--pipeline', 'nova', '--request', '-', '--num-instances', '2', stdin=json.dumps(cloud(server={'name': 'web'}))).stdout
    check('names of many', 'web-1' in plan and 'web-2' in plan, plan)
    for ref in ('f', 'http://192.0.2.1:8774/v2.1/flavors/f', 'm1'):
        check(f'flavorRef {ref}', place(cloud(hosts=1, server={'flavorRef': ref})) == ['h1'])
    for number, ref in ((7, 7), (7, '7'), ('7', 7), (7, 'http://192.0.2.1/flavors/7')):
        check(f'flavor {number!r} as {ref!r}', place(cloud(hosts=1, flavor={'id': number}, server={'flavorRef': ref})) == ['h1'])
    for ref in ('i', 'http://192.0.2.1/v2/images/i'):
        of = cloud(hosts=2, filters='IsolatedHostsFilter', images=[{'id': 'i', 'properties': {}}], server={'imageRef': ref})
        of['nova.conf'] += 'isolated_hosts = h2\nisolated_images = i\n'
        check(f'imageRef {ref}', place(of) == ['h2'])
    refused('/server/flavorRef: "x" is not in flavors', cloud(server={'flavorRef': 'x'}))


def test_project():
    """The project of a request without tenant_id."""
    of = cloud(filters='AggregateMultiTenancyIsolation', aggregates=[{'id': 1, 'name': 'a', 'hosts': ['h1', 'h2'], 'metadata': {'filter_tenant_id': 'bank'}}], server={'tenant_id': None})
    del of['server']['tenant_id']

    def ask(of, *options):
        return run('place', '--pipeline', 'nova', '--request', '-', '--num-instances', '6', '--format', 'json', *options, stdin=json.dumps(of))

    done = ask(of)
    check('needed', done.returncode == 2 and '/server/tenant_id: missing, expected the project, by which AggregateMultiTenancyIsolation' in done.stderr, done.stderr)
    for what, done in (('of the command', ask(of, '--project', 'shop')), ('of the file', ask({**of, 'project_id': 'shop'})),
                       ('of the server', ask({**of, 'project_id': 'bank', 'server': {**of['server'], 'tenant_id': 'shop'}}))):
        check(what, {r['to'] for r in json.loads(done.stdout or '{"recommendations": []}')['recommendations']} == {'h3'}, done.stderr)
    check('another', len({r['to'] for r in json.loads(ask(of, '--project', 'bank').stdout)['recommendations']}) == 3)
    check('not needed', ask({**of, 'aggregates': []}).returncode == 0)
    of['nova.conf'] = '[scheduler]\nlimit_tenants_to_placement_aggregate = true\n'
    done = ask(of)
    check('needed by a prefilter', done.returncode == 2 and 'by which limit_tenants_to_placement_aggregate decides' in done.stderr, done.stderr)


# ---- one pipeline for many ----

def test_pipelines():
    """2,000 tenants with 500 flavours, zones, images, groups and hints share a pipeline."""
    flavors = [{**FLAVOR, 'id': f'f{i}', 'name': f'm{i}', 'ram': 512 + i,
                'extra_specs': {'aggregate_instance_extra_specs:disk': f'<or> ssd{i % 7} <or> any', f'trait:CUSTOM_T{i % 50}': 'required'}} for i in range(500)]
    images = [{'id': f'i{i}', 'properties': {'hw_architecture': ['x86_64', 'aarch64'][i % 2], 'os_distro': f'd{i}'}} for i in range(30)]
    servers = [listed(f's{i}', f'h{i % 20 + 1}', tenant_id=f't{i}', flavor={'id': f'f{i % 500}'}, image={'id': f'i{i % 30}'}, pinned_availability_zone=[None, 'east', 'west'][i % 3],
                      **{'os:scheduler_hints': {'different_host': [f's{i // 2}']} if i % 4 == 0 else {}}) for i in range(2000)]
    groups = [{'id': f'g{i}', 'policy': ['affinity', 'anti-affinity'][i % 2], 'members': [f's{i * 4}', f's{i * 4 + 1}']} for i in range(200)]
    aggregates = [{'id': i, 'name': f'a{i}', 'hosts': [f'h{i}'], 'metadata': {'disk': f'ssd{i}', 'filter_tenant_id': f't{i}', 'os_distro': f'd{i}', 'availability_zone': 'east'}}
                  for i in range(1, 9)]
    of = cloud(hosts=20, filters='ComputeFilter,AvailabilityZoneFilter,AggregateMultiTenancyIsolation,AggregateInstanceExtraSpecsFilter,AggregateTypeAffinityFilter,'
               'AggregateImagePropertiesIsolation,ImagePropertiesFilter,DifferentHostFilter,ServerGroupAffinityFilter,ServerGroupAntiAffinityFilter',
               servers=servers, images=images, server_groups=groups, aggregates=aggregates) | {'flavors': flavors}
    del of['server']
    done = run('fit', 'check', '-', stdin=json.dumps(of))
    check('one pipeline', done.stdout == 'ok: hosts 20, VMs 2000, groups 8, pipelines 1\n', done.stdout + done.stderr)


def test_grows_with_the_cloud():
    """Ten times the hosts and servers, each of a tenant and a server group of its own, take about ten times as long, not a hundred times."""
    def seconds(hosts, servers):
        ids = [f's{i}' for i in range(servers)]
        groups = [{'id': f'g{i}', 'name': 'g', 'policy': 'affinity', 'rules': {}, 'members': [name]} for i, name in enumerate(ids)]
        of = cloud(hosts, 'ComputeFilter,DifferentHostFilter,ServerGroupAffinityFilter', server_groups=groups,
                   servers=[{**listed(name, f'h{i % hosts + 1}'), 'tenant_id': f't{i}'} for i, name in enumerate(ids)])
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        check(f'{servers} servers', run('fit', 'check', '-', stdin=json.dumps(of)).returncode == 0)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    small, large = seconds(60, 400), seconds(600, 4000)
    check('grows with the cloud', large < 35 * max(small, 0.02), f'{small:.2f} s, {large:.2f} s')


for name, test in sorted(globals().items()):
    if name.startswith('test_'):
        test()
end()
