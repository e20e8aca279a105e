"""openstack_cloud.py: small clouds and requests of OpenStack for openstack.py and openstack_moves.py."""
import json

from command import check, run

FLAVOR = {'id': 'f', 'name': 'm1', 'vcpus': 4, 'ram': 2048, 'disk': 0, 'extra_specs': {}}


def cloud(hosts=3, filters='ComputeFilter', options='', flavor=None, server=None, **more):
    return {
        'nova.conf': f'[DEFAULT]\ncpu_allocation_ratio = 16\n{options}\n[filter_scheduler]\nenabled_filters = {filters}\nweight_classes =\n',
        'hypervisors': [{'hypervisor_hostname': f'h{i}', 'vcpus': 8, 'memory_mb': 65536, 'local_gb': 100} for i in range(1, hosts + 1)],
        'flavors': [{**FLAVOR, **(flavor or {})}], 'server': {'name': 'new', 'flavorRef': 'f', 'tenant_id': 'shop', **(server or {})}, **more}


def listed(server, host, **more):
    return {'id': server, 'status': 'ACTIVE', 'OS-EXT-SRV-ATTR:host': host, 'tenant_id': 'shop', 'flavor': {'id': 'f'}, 'image': '', **more}


def place(of, n=None, exit_code=0):
    """The hosts of the servers, sorted; by name."""
    done = run('place', '--pipeline', 'nova', '--request', '-', '--format', 'json', *(['--num-instances', str(n)] if n else []), stdin=json.dumps(of))
    check(f'exit code {exit_code}', done.returncode == exit_code, f'{done.returncode} {done.stderr}')
    return sorted(r['to'] for r in json.loads(done.stdout or '{"recommendations": []}')['recommendations'])


def group(policy, members=(), **rules):
    return {'server_groups': [{'id': 'g', 'name': 'g', 'policy': policy, 'rules': rules, 'members': list(members)}], 'os:scheduler_hints': {'group': 'g'}}
