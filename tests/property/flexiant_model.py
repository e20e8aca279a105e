"""Flexiant's dynamic workload placement, written from its document alone (in quotes), with exact fractions."""
from fractions import Fraction

# "For each key name, the value at the lowest level of the following hierarchy takes precedence"
LEVELS = ('cluster', 'billing entity', 'customer product offer', 'customer', 'image product offer', 'image', 'VDC product offer', 'VDC',
          'server product offer', 'server', 'first disk product offer', 'first disk', 'first network product offer', 'first network',
          'first NIC product offer', 'first NIC')


def exact(number):
    return Fraction(str(number))


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def proximity(a, b):
    """"if the difference between the values of the two keys is 1.0 or more, the proximity is zero; [else] 1.0 less the difference"."""
    return max(Fraction(0), 1 - abs(a - b))


class Model:
    def __init__(self, cloud):
        self.cloud = cloud
        self.by_id = {kind: {r['id']: r for r in cloud.get(kind, [])}
                      for kind in ('clusters', 'nodes', 'billing_entities', 'customers', 'product_offers', 'images', 'vdcs', 'networks', 'servers')}
        settings = cloud.get('settings', {})
        self.overhead = exact(settings.get('ram_overhead_mb', 1024))  # "an overhead (defaulting to 1GB)"
        self.ram_ratio = exact(settings.get('ram_ratio', 1))
        self.cpu_ratio = exact(settings.get('cpu_ratio', 1))
        self.steps = settings.get('MSAV_STEPS', 10)
        self.initial = exact(settings.get('INITIAL_MSAV', 80))
        self.final = exact(settings.get('FINAL_MSAV', -10))

    # ---- step 2 ----

    def resources(self, server):
        """The keys of each level, the highest first."""
        get = lambda kind, name: self.by_id[kind].get(name) or {}
        offer = lambda resource: get('product_offers', resource.get('product_offer'))
        vdc = get('vdcs', server['vdc'])
        customer = get('customers', vdc['customer'])
        image = get('images', server.get('image'))
        disk = (server.get('disks') or [{}])[0]
        nic = (server.get('nics') or [{}])[0]
        network = get('networks', nic.get('network'))
        found = (get('clusters', vdc['cluster']), get('billing_entities', customer['billing_entity']), offer(customer), customer, offer(image), image,
                 offer(vdc), vdc, offer(server), server, offer(disk), disk, offer(network), network, offer(nic), nic)
        return dict(zip(LEVELS, found))

    def compile_keys(self, server):
        """(system, customer): {name: (value, weight)}."""
        system, customer = {}, {}
        for level, resource in self.resources(server).items():
            if level == 'server':  # "a server started on a node will (internally) be given a copy of the sticky key"
                for key in server.get('sticky_keys', []):
                    into = customer if key['name'].startswith('_') else system
                    if key.get('weight', 0):
                        into[key['name']] = (exact(key['value']), exact(key['weight']))
            for key in resource.get('keys', []):
                value = key.get('value', 0)  # only special keys leave it out: "They always have value 0"
                if not key.get('weight', 0) or not is_number(value):
                    continue  # a normal key
                into = system if key['owner'] == 'system' else customer
                into[key['name']] = (exact(value), exact(key['weight']))
        return system, customer

    # ---- step 3 ----

    def cluster_of(self, server):
        return self.by_id['clusters'][self.by_id['vdcs'][server['vdc']]['cluster']]

    def running_on(self, node, besides):
        return [s for s in self.cloud.get('servers', []) if s['state'] == 'running' and s['node'] == node['id'] and s['id'] != besides['id']]

    def keys_at_start(self, server):
        """"any changes to a VM's affinity settings whilst it is running will not affect any subsequently placed VMs"."""
        if 'started_keys' in server:
            return [(k['name'], exact(k['value'])) for k in server['started_keys']]
        return [(name, value) for name, (value, _) in self.compile_keys(server)[1].items()]

    def special(self, node, besides):
        others = self.running_on(node, besides)
        ram = exact(node['ram_mb']) * exact(node.get('ram_ratio', self.ram_ratio))
        cpus = exact(node['cpus']) * exact(node.get('cpu_ratio', self.cpu_ratio))
        one = Fraction(1)
        return {'#RAM': min(one, sum(exact(s['ram_mb']) for s in others) / ram), '#CPU': min(one, sum(s['cpus'] for s in others) / cpus),
                '#LOAD': min(one, exact(node['load']))}

    def node_system_keys(self, node, besides):
        """"other than Reserved Placement Keys"."""
        own = {k['name']: exact(k['value']) for k in node.get('keys', []) if not k['name'].startswith('_')}
        return {**own, **self.special(node, besides)}

    def node_customer_keys(self, node, besides):
        """"There may be multiple instances of a key name"."""
        keys = [pair for s in self.running_on(node, besides) for pair in self.keys_at_start(s)]
        return keys + [(k['name'], exact(k['value'])) for k in node.get('keys', []) if k['name'].startswith('_')]

    # ---- steps 1, 4, 5 ----

    def is_eligible(self, server, node):
        if node['state'] != 'running' or node['cluster'] != self.cluster_of(server)['id']:
            return False
        size = exact(server['ram_mb']) + self.overhead
        contended = exact(node['free_ram_mb'])
        if server['state'] == 'running' and server['node'] == node['id']:
            contended += exact(server['ram_mb'])  # the document does not say; where it runs it needs no more
        others = sum(exact(s['ram_mb']) for s in self.running_on(node, server))
        uncontended = exact(node['ram_mb']) * exact(node.get('ram_ratio', self.ram_ratio)) - others
        return uncontended > size and contended > size  # "must exceed"

    @staticmethod
    def score(wanted, there):
        return sum((wanted[name][1] * proximity(wanted[name][0], value) for name, value in there if name in wanted), Fraction(0))

    def thresholds(self):
        if self.steps == 1:
            return [self.initial]
        return [self.initial + (self.final - self.initial) * i / (self.steps - 1) for i in range(self.steps)]

    def place(self, server):
        """{'eligible': ids, 'system': scores, 'survivors': ids, 'customer': scores, 'best': ids}; None for what local storage leaves out."""
        disk = (server.get('disks') or [{}])[0]
        if self.cluster_of(server).get('local_storage') and disk.get('node'):
            node = self.by_id['nodes'][disk['node']]
            only = [node['id']] if node['state'] == 'running' else []
            return {'eligible': only, 'system': None, 'survivors': only, 'customer': None, 'best': only}
        system, customer = self.compile_keys(server)
        nodes = {n['id']: n for n in self.cloud['nodes'] if self.is_eligible(server, n)}
        points = {i: self.score(system, self.node_system_keys(n, server).items()) for i, n in nodes.items()}
        survivors = []
        for threshold in self.thresholds():
            survivors = [i for i in nodes if points[i] > threshold]
            if survivors:
                break
        second = {i: self.score(customer, self.node_customer_keys(nodes[i], server)) for i in survivors}
        best = [i for i in survivors if second[i] == max(second.values())]
        return {'eligible': list(nodes), 'system': points, 'survivors': survivors, 'customer': second, 'best': best}

    # ---- steps 5 and 6, after the start ----

    def start(self, server, node_id):
        """Changes the cloud: what is remembered of a start."""
        node = self.by_id['nodes'][node_id]
        server['started_keys'] = [{'name': name, 'value': float(value)} for name, (value, _) in self.compile_keys(server)[1].items()]
        sticky = {k['name']: k for k in server.get('sticky_keys', [])}
        sticky.update({k['name']: k for k in node.get('keys', []) if k.get('sticky')})
        server['sticky_keys'] = [{'name': k['name'], 'value': k['value'], 'weight': k['weight']} for k in sticky.values()]
        server['state'] = 'running'
        server['node'] = node_id

    @staticmethod
    def stop(server):
        """"removed when the VM is stopped"."""
        server['state'] = 'stopped'
        server.pop('node')
        server.pop('started_keys', None)
