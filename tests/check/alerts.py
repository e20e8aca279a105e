#!/usr/bin/env python3
"""Each code of a fault raises the alert BallastFault, or stands in conf/prometheus/README.md with the reason why it does not; not both."""
import re

from tree import end, text_of

RULES = 'conf/prometheus/ballast.rules.yml'
README = 'conf/prometheus/README.md'

faults = text_of('include/ballast/names.h').partition('#define FAULT_CODES(X)')[2].partition('\n\n')[0]
codes = set(re.findall(r'X\(FAULT_\w+, "(\w+)"', faults))
raised = set(re.search(r'alert: BallastFault\n +expr: ballast_faults\{code=~"([\w|]+)"\} > 0\n', text_of(RULES))[1].split('|'))
table = text_of(README).partition('## Faults without an alert')[2].partition('\n## ')[0]
reasons = set(re.findall(r'^\| `(\w+)` \| [^|]+ \|$', table, re.M))
violations = [f'{RULES}: BallastFault is not raised for the fault {c}; add it, or give the reason in {README}' for c in sorted(codes - raised - reasons)]
violations += [f'{README}: the fault {c} raises BallastFault' for c in sorted(raised & reasons)]
violations += [f'{RULES} or {README}: there is no fault {c}' for c in sorted((raised | reasons) - codes)]
if not codes:
    violations.append('names.h: no code of a fault was found')
end(violations, f'{len(raised)} faults with an alert, {len(reasons)} without')
