#!/usr/bin/env python3
"""The privileges that a user of Proxmox VE needs are in the role of the manual page. Those that a vCenter's user needs are one table (collectors/vsphere/vs_privileges.c): every method of the API that is called
stands in it, the manual page names its privileges and no others, and the simulator of the tests asks for the same."""
import re

from tree import end, files, text_of

TABLE = 'collectors/vsphere/vs_privileges.c'
PAGE = 'packaging/man/ballast-vsphere.7'
SIMULATOR = 'tests/peers/vcsim/privileges.go'
# Methods that take no privilege of the table: the session's own, and those of System.View, which every role has; and
# UpdateConfig of pools, which the actuator refuses in a cluster before it is called.
FREE = {'RetrieveServiceContent', 'Login', 'Logout', 'ContinueRetrievePropertiesEx', 'CheckMigrate_Task', 'QueryVMotionCompatibilityEx_Task',
        'QueryEvents', 'UpdateConfig'}

code = text_of(TABLE)
# {"id", "label", on, operations, optional, "purpose", "methods"}, where adjacent literals are one
ROW = re.compile(r'^    \{("[A-Z]\w+\.[\w.]+".*?)\},?$', re.M | re.S)
rows = []
for row in ROW.findall(code):
    texts = re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'"\s*\n\s*"', '', row))
    rows.append((texts[0], texts[1], set(texts[-1].split())))

called = set()
for folder in ('collectors/vsphere', 'actuators/vsphere', 'src/net/vsphere'):
    for path in files('.c', under=folder):
        text = text_of(path)
        if str(path) == TABLE:
            text = re.sub(ROW, '', text)
        called |= set(re.findall(r'vsphere_begin\([^,]+, "(\w+)"', text)) | set(re.findall(r'"(\w+_Task)"', text))
        called |= set(re.findall(r'"(\w*RetrievePropertiesEx)"', text))

listed = set().union(*(methods for _, _, methods in rows))
violations = [] if len(rows) > 3 else [f'{TABLE}: its rows cannot be read']
violations += [f'{TABLE}: no privilege for {m}, which is called' for m in sorted(called - listed - FREE)]
violations += [f'{TABLE}: {m} is not called' for m in sorted(listed - called)]
violations += [f'{m} is in the list of methods without a privilege, and not called' for m in sorted(FREE - called)]

page = text_of(PAGE)
page = page[page.index('.Ss Privileges'):page.index('.Ss DRS')]
named = set(re.findall(r'\b((?:System|Resource|Host|VirtualMachine|Global|Sessions|InventoryService)\.[A-Z][\w.]*\w)', page))
violations += [f'{PAGE}: does not name {p}' for p in sorted({p for p, _, _ in rows} - named)]
violations += [f'{PAGE}: names {p}, which {TABLE} does not have' for p in sorted(named - {p for p, _, _ in rows})]
violations += [f'{PAGE}: does not have "{label}"' for _, label, _ in rows if ' > ' in label and label not in page]

required = {m: set(re.findall(r'"([\w.]+)"', ps)) for m, ps in re.findall(r'^\t"(\w+)":\s+\{([^}]*)\}', text_of(SIMULATOR), re.M)}
for method in sorted(listed & set(required)):
    here = {p for p, _, methods in rows if method in methods}
    # MigrateVM_Task takes the privilege of the VM's state only: more than enough is listed
    if not required[method] <= here or (method != 'MigrateVM_Task' and required[method] != here):
        violations.append(f'{SIMULATOR}: {method} takes {sorted(required[method])}, in {TABLE} {sorted(here)}')

# Proxmox VE: the table of check-config --connect, and the role of its page.
TABLE, PAGE = 'collectors/proxmox/pve_preflight.c', 'packaging/man/ballast-proxmox.7'
PRIVILEGE = r'\b((?:Sys|VM|Datastore|Pool|SDN|Mapping)\.[A-Z]\w+)'
table = set(re.findall(r'\{"/\w*", "([\w.]+)"', text_of(TABLE)))
role = set(re.findall(PRIVILEGE, re.search(r'--privs.*?"(.*?)"', text_of(PAGE), re.S).group(1)))
violations += [] if len(table) > 3 else [f'{TABLE}: its rows cannot be read']
violations += [f'{PAGE}: the role lacks {p}, which {TABLE} has' for p in sorted(table - role)]
violations += [f'{PAGE}: the role has {p}, which {TABLE} lacks' for p in sorted(role - table)]
violations += [f'{PAGE}: does not describe {p}' for p in sorted(table - set(re.findall(PRIVILEGE, text_of(PAGE).split('.Bd -literal')[0])))]
end(violations, f'{len(rows)} privileges, {len(called)} methods')
