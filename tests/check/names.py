#!/usr/bin/env python3
"""Every public word is explained: codes in conf/names.md, settings in conf/ballast.yaml."""
import json
import os
import re
import subprocess

from tree import BUILD, end, text_of

violations = []
words = re.findall(r'X\(\w+, "([^"]+)",', text_of('include/ballast/names.h'))
documented = text_of('conf/names.md')
violations += [f'conf/names.md: {word} is missing' for word in sorted(set(words)) if f'`{word}`' not in documented]

ballast = os.environ.get('BALLAST', str(BUILD / 'src/cli/ballast'))
settings = []
if os.path.exists(ballast):
    snapshot = subprocess.run([ballast, 'generate', '--hosts', '2', '--vms', '2', '--seed', '1'], capture_output=True, text=True,
                              check=True).stdout
    plan = subprocess.run([ballast, 'plan', '--snapshot', '-', '--format', 'json'], input=snapshot, capture_output=True,
                          text=True, check=True).stdout
    policy = json.loads(plan)['policy']
    for key, value in policy.items():
        settings += [f'{key}.{inner}' for inner in value] if isinstance(value, dict) else [key]
    example = text_of('conf/ballast.yaml')
    for key in settings:
        if not re.search(rf'^[\s#]*{re.escape(key.split(".")[-1])}:', example, flags=re.M):
            violations.append(f'conf/ballast.yaml: the setting {key} is missing')
        if f'`{key}`' not in documented:
            violations.append(f'conf/names.md: the setting {key} is missing')
end(violations, f'{len(words)} codes, {len(settings)} settings')
