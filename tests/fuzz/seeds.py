#!/usr/bin/env python3
"""seeds.py TARGET: prints the first inputs of a fuzz target, one file a line: its folder in corpus/ and files of other tests."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]

OF_OTHERS = {
    'config': ['conf/ballast.yaml', 'conf/examples/*.yaml'],
    'flexiant': ['conf/examples/flexiant.json'],
    'json': ['conf/schema/*.json', 'tests/scenarios/input/*/snapshot.json', 'tests/scenarios/place/refused/*.json'],
    'libvirt_xml': ['tests/replies/libvirt/*.xml'],
    'ovirt': ['conf/examples/ovirt.json'],
    'scenario': ['conf/examples/simulate-*.yaml'],
    'snapshot': ['tests/scenarios/input/*/snapshot.json', 'tests/scenarios/settings/*/snapshot.json',
                 'tests/scenarios/ha/percent-*/snapshot.json', 'tests/scenarios/power/quiet-then-surge/snapshot.json',
                 'tests/scenarios/power/rise-together/snapshot.json', 'tests/scenarios/explain/every-host-*/snapshot.json',
                 'tests/scenarios/expected/rise-did-not-come/snapshot.json', 'tests/scenarios/ft/explained/snapshot.json',
                 'tests/scenarios/fit/every-filter-is-named/snapshot.json'],
    'trace': ['conf/examples/simulate-replay/*.csv'],
    'vms': ['tests/scenarios/place/*/vms.json'],
    'vsphere_inventory': ['tests/replies/vsphere/*.xml'],
}


def main():
    target = sys.argv[1]
    for pattern in OF_OTHERS.get(target, []):
        found = sorted(TOP.glob(pattern))
        if not found:
            sys.exit(f'seeds.py: {target} begins with {pattern}, and nothing is there')
        print(*found, sep='\n')
    own = HERE / 'corpus' / target
    if own.is_dir():
        print(*sorted(own.iterdir()), sep='\n')


main()
