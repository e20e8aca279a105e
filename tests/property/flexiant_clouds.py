"""Random clouds for flexiant.py. Dyadic ones have only figures that binary fractions hold, so that a score that equals a threshold is
met exactly."""
NAMES = ('SSD', 'SITE', 'TIER', 'OWNER')
RESERVED = ('_GPU', '_ZONE')
SPECIAL = ('#RAM', '#CPU', '#LOAD')
LEVEL_KINDS = ('clusters', 'billing_entities', 'customers', 'product_offers', 'images', 'vdcs', 'networks')


class Maker:
    def __init__(self, rng, dyadic):
        self.rng = rng
        self.dyadic = dyadic

    def value(self):
        if self.dyadic:
            return self.rng.choice((0, 1, 2, 0.5, 0.25, 1.75, -0.5))
        return round(self.rng.uniform(-1, 2.5), self.rng.choice((0, 1, 3)))

    def weight(self):
        if self.dyadic:
            return self.rng.choice((10, 20, 40, 80, 5, -10, -20, 100, 0))
        return round(self.rng.uniform(-40, 120), self.rng.choice((0, 1)))

    def key(self, kind, master=False, server_part=False):
        owners = ['system', 'billing_entity']
        if server_part or kind in ('images', 'networks', 'clusters') or (kind == 'billing_entities' and not master):
            owners.append('customer')
        owner = self.rng.choice(owners)
        if owner == 'system' and self.rng.random() < 0.4:
            key = {'name': self.rng.choice(SPECIAL), 'owner': 'system', 'weight': self.weight()}
            if kind != 'clusters' and self.rng.random() < 0.7:
                key['value'] = self.rng.choice((0, 1, 0.5))
            return key
        name = self.rng.choice(NAMES if owner == 'system' else NAMES + RESERVED)
        value = self.rng.choice(('fast', True)) if self.rng.random() < 0.1 else self.value()
        return {'name': name, 'owner': owner, 'value': value, 'weight': self.weight()}

    def keys(self, kind, most, **what):
        """Each name once in each of the two sections."""
        found = {}
        for _ in range(self.rng.randint(0, most)):
            key = self.key(kind, **what)
            found[(key['name'], key['owner'] == 'system')] = key
        return list(found.values())

    def maybe(self, name, values):
        return {name: self.rng.choice(values)} if values and self.rng.random() < 0.6 else {}

    def node(self, i, cluster, names):
        rng = self.rng
        keys = []
        for name in names:
            key = {'name': name, 'value': self.value()}
            if name in ('SITE', '_ZONE'):
                key.update(sticky=True, weight=rng.choice((15, 30, -5)))
            keys.append(key)
        ram = rng.choice((8192, 8192, 16384, 65536))
        load = rng.choice((0, 0.25, 0.5, 0.875, 1, 1.5)) if self.dyadic else round(rng.uniform(0, 1.2), 3)
        node = {'id': f'node-{i}', 'cluster': cluster, 'state': rng.choice(('running',) * 7 + ('stopped',)), 'ram_mb': ram,
                'cpus': rng.choice((8, 16)), 'free_ram_mb': rng.choice((ram, ram // 2, 3072, 4096, 2049)), 'load': load, 'keys': keys}
        if rng.random() < 0.6:
            node['ram_ratio'] = rng.choice((1, 2, 0.5) if self.dyadic else (1, 1.1, 1.5, 2, 0.9))
        if rng.random() < 0.6:
            node['cpu_ratio'] = rng.choice((1, 2, 4))
        return node

    def server(self, i, cloud, nodes):
        rng = self.rng
        offers = [o['id'] for o in cloud['product_offers']]
        vdc = rng.choice(cloud['vdcs'])
        there = [n['id'] for n in nodes if n['cluster'] == vdc['cluster']]
        server = {'id': f'server-{i}', 'vdc': vdc['id'], 'ram_mb': rng.choice((1024, 2048, 4096, 2048.5)), 'cpus': rng.randint(1, 4), 'state': 'stopped',
                  'keys': self.keys('servers', 3, server_part=True), **self.maybe('image', [m['id'] for m in cloud['images']]),
                  **self.maybe('product_offer', offers)}
        if rng.random() < 0.7:
            server['disks'] = [{'keys': self.keys('servers', 1, server_part=True), **self.maybe('product_offer', offers), **self.maybe('node', there)}
                               for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.7:
            server['nics'] = [{'keys': self.keys('servers', 1, server_part=True), **self.maybe('product_offer', offers),
                               **self.maybe('network', [n['id'] for n in cloud['networks']])} for _ in range(rng.randint(1, 2))]
        if there and rng.random() < 0.7:
            server.update(state='running', node=rng.choice(there))
            if rng.random() < 0.5:
                server['started_keys'] = [{'name': n, 'value': self.value()} for n in NAMES + RESERVED if rng.random() < 0.4]
        if rng.random() < 0.2:
            server['sticky_keys'] = [{'name': n, 'value': self.value(), 'weight': 15} for n in ('SITE', '_ZONE')]
        return server

    def cloud(self):
        rng = self.rng
        clusters = [{'id': f'cluster-{i}', 'keys': self.keys('clusters', 4), 'local_storage': rng.random() < 0.1} for i in range(rng.choice((1, 1, 2)))]
        cloud = {'dialect': 'flexiant', 'clusters': clusters,
                 'product_offers': [{'id': f'offer-{i}', 'keys': self.keys('product_offers', 2)} for i in range(3)]}
        offers = [o['id'] for o in cloud['product_offers']]
        cloud['billing_entities'] = [{'id': f'entity-{i}', 'master': i == 0, 'keys': self.keys('billing_entities', 2, master=i == 0)} for i in range(2)]
        for kind, n in (('images', 2), ('networks', 2)):
            cloud[kind] = [{'id': f'{kind}-{i}', 'keys': self.keys(kind, 2), **self.maybe('product_offer', offers)} for i in range(n)]
        cloud['customers'] = [{'id': f'customer-{i}', 'billing_entity': f'entity-{i % 2}', 'keys': self.keys('customers', 2),
                               **self.maybe('product_offer', offers)} for i in range(3)]
        cloud['vdcs'] = [{'id': f'vdc-{i}', 'customer': f'customer-{i % 3}', 'cluster': rng.choice(clusters)['id'], 'keys': self.keys('vdcs', 2),
                          **self.maybe('product_offer', offers)} for i in range(4)]
        names = {c['id']: [n for n in NAMES + RESERVED if rng.random() < 0.5] for c in clusters}
        cloud['nodes'] = []
        for i in range(rng.randint(1, 9)):
            cluster = rng.choice(clusters)['id']
            cloud['nodes'].append(self.node(i, cluster, names[cluster]))
        cloud['servers'] = [self.server(i, cloud, cloud['nodes']) for i in range(rng.randint(2, 24))]
        settings = {'seed': rng.randrange(1000)}
        if rng.random() < 0.4:
            settings.update(ram_overhead_mb=rng.choice((0, 512, 1024, 1023.5)), MSAV_STEPS=rng.choice((1, 2, 4, 10)))
        if rng.random() < 0.3:
            settings.update(INITIAL_MSAV=rng.choice((80, 40, 20)), FINAL_MSAV=rng.choice((-10, 0, -100, 20)))
        if rng.random() < 0.3:
            settings.update(ram_ratio=rng.choice((1, 2)), cpu_ratio=rng.choice((1, 4)))
        cloud['settings'] = settings
        return cloud
