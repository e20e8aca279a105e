/* The configuration file: line and message of each error. */
#include "unit.h"

#include "config/config.h"
#include "schema/suggest.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

#define KVM "cluster: a\nsource:\n  kind: libvirt\n  hosts: {h: {uri: 'qemu+tls://h/system'}}\n"
#define SIM "cluster: a\nsource: {kind: sim}\n"

static const struct {
    const char *text;
    const char *sentence; /* what it begins with */
} wrong[] = {
    /* the schedule of power management */
    {SIM "dpm:\n  windows: Mon 20:00 for 10h\n", "f.yaml:4: dpm.windows is no list, expected a list"},
    {SIM "dpm:\n  windows: [Mon 20:00]\n", "f.yaml:4: dpm.windows: \"Mon 20:00\" has no length"},
    {SIM "dpm:\n  windows:\n  - Mon 20:00 for 10h\n  - Mon..Foo 20:00 for 10h\n",
     "f.yaml:6: dpm.windows: \"Mon..Foo 20:00\": a day of the week is missing, expected a calendar "
     "expression"},
    {SIM "dpm:\n  windows: [Mon 20:00 for 10 hrs and more]\n",
     "f.yaml:4: dpm.windows: \"10 hrs and more\" is not a time span"},
    {SIM "dpm:\n  windows: ['*-02-30 for 1h']\n", "f.yaml:4: dpm.windows: \"*-02-30\" never occurs"},
    {SIM "dpm:\n  ready_by: ['07:30 Europe/Berlyn']\n",
     "f.yaml:4: dpm.ready_by: \"07:30 Europe/Berlyn\": \"Europe/Berlyn\" is not a time zone"},
    {SIM "dpm:\n  ready_by: ['25:30']\n", "f.yaml:4: dpm.ready_by: \"25:30\": the hour is out of its range"},
    {SIM "dpm:\n  prove_every: often\n",
     "f.yaml:4: dpm.prove_every is \"often\", expected a time span such as 30d"},
    {SIM "dpm:\n  time_zone: Mars/Olympus\n", "f.yaml:4: dpm.time_zone is \"Mars/Olympus\", expected UTC or"},
    {SIM "dpm:\n  ready_percent: 0\n",
     "f.yaml:4: dpm.ready_percent is \"0\", expected a whole number from 1 to 100"},
    {SIM "avoid: {pause_s: 20000}\n", "f.yaml:3: avoid.pause_s makes the first pause 20000 s, longer than"},
    {SIM "avoid:\n  pause_max_s: 60\n", "f.yaml:4: avoid.pause_max_s makes the first pause 900 s, longer "
                                        "than the longest: avoid.pause_max_s is 60"},
    /* groups and pipelines */
    {SIM "groups:\n  g: {hosts: a}\n", "f.yaml:4: groups.g.kind missing, expected it in every group"},
    {SIM "groups: {g: {kind: rack, hosts: a, meta: [a]}}\n", "f.yaml:3: groups.g.meta is a list, expected "},
    {SIM "pipelines: [a]\n",
     "f.yaml:3: pipelines is a list, expected a section with a pipeline below each name"},
    {SIM "pipelines: {p: {vms: a}}\n", "f.yaml:3: pipelines.p.stages missing, expected it in every pipeline"},
    {SIM "pipelines: {p: {stages: []}}\n",
     "f.yaml:3: pipelines.p.stages has no stage, expected at least one"},
    {SIM
     "pipelines:\n  p:\n    stages:\n    - name: s\n      filter:\n      - and\n      - ['<', $host.cores]\n",
     "f.yaml:9: pipelines.p.stages.0.filter.1 is \"<\" with 1 operands, expected 2"},
    {SIM "pipelines:\n  p:\n    stages:\n    - name: s\n      filter: ['<', $host.cores, four]\n",
     "f.yaml:7: pipelines.p.stages.0.filter.2 is \"four\", expected a number"},
    {SIM "pipelines:\n  p: {stages: [{name: s, filter: ['>', $host.coers, 4]}]}\n",
     "f.yaml:4: pipelines.p.stages.0.filter.1 is \"$host.coers\", expected a variable such as "},
    {SIM "pipelines:\n  p:\n    stages:\n    - {name: s, filter: true}\n    - {name: s, filter: true}\n",
     "f.yaml:7: pipelines.p.stages.1.name: the name of another stage, expected its own"},
    {SIM "pipelines:\n  p: {stages: [{name: s, filter: true, applies: [correct]}]}\n",
     "f.yaml:4: pipelines.p.stages.0.applies: correct without move would move a VM"},
    {SIM "pipelines:\n  p: {stages: [{name: s, filtre: true}]}\n",
     "f.yaml:4: \"pipelines.p.stages.0.filtre\" is not a known key, did you mean \"filter\"?"},
    {SIM "units:\n  u: {}\n", "f.yaml:4: units.u.command missing, expected it in every external unit"},
    {SIM "units:\n  u: {command: [python3]}\n",
     "f.yaml:4: units.u.command does not begin with an absolute path"},
    {SIM "units:\n  u: {command: [/bin/u], timeout_s: 61}\n", "f.yaml:4: units.u.timeout_s is "},
    {SIM "units: {u: {command: [/bin/u]}}\npipelines:\n  p: {stages: [{name: s, external: v, filter: "
         "$answer}]}\n",
     "f.yaml:5: pipelines.p.stages.0.external is \"v\", expected the name of an entry of units"},
    {SIM "pipelines:\n  p:\n    stages:\n    - {name: s}\n",
     "f.yaml:6: pipelines.p.stages.0: expected one of filter, count, score, "},
    {SIM "pipelines:\n  p: {stages: [{name: s, cut: {from: 1, to: 2, steps: 3}}]}\n",
     "f.yaml:4: pipelines.p.stages.0.cut: expected from, a number to that is not above it"},
    {SIM "vms:\n- {name: a, flavor: {cores: null}}\n",
     "f.yaml:4: vms.0.flavor.cores has no value, expected a number, a text, true or false"},
    {SIM "hosts:\n- {name: a, attributes: 5}\n",
     "f.yaml:4: hosts.0.attributes is \"5\", expected {NAME: VALUE, ...}"},
    /* rules and settings of VMs and hosts */
    {SIM "vms:\n- {folder: prod/db, automation: manual}\n",
     "f.yaml:4: vms.0.folder is \"prod/db\", expected a path that begins with a /"},
    {SIM "rules: [a]\n", "f.yaml:3: rules is a list, expected a section with a rule below each name"},
    {SIM "rules: {r: 5}\n", "f.yaml:3: rules.r is \"5\", expected a section"},
    {SIM "rules:\n  r: {kind: apart, vms: a}\n",
     "f.yaml:4: rules.r.kind is \"apart\", expected affinity, anti-affinity, host-affinity or "
     "host-anti-affinity"},
    {SIM "rules:\n  r: {vms: a}\n", "f.yaml:4: rules.r.kind missing, expected it in every rule"},
    {SIM "rules:\n  r: {kind: affinity}\n", "f.yaml:4: rules.r.vms missing, expected it in every rule"},
    {SIM "rules:\n  r: {kind: affinity, vms: a, hots: b}\n",
     "f.yaml:4: \"rules.r.hots\" is not a known key, did you mean \"hosts\"?"},
    {SIM "rules:\n  r:\n    kind: affinity\n    vms: {nmae: a}\n",
     "f.yaml:6: \"rules.r.vms.nmae\" is not a known key, did you mean \"name\"?"},
    {SIM "rules:\n  r: {kind: affinity, vms: {}}\n",
     "f.yaml:4: rules.r.vms has no condition, expected at least one, for example name"},
    {SIM "rules:\n  r: {kind: affinity, vms: []}\n",
     "f.yaml:4: rules.r.vms has 0 entries, expected 1 to 1000"},
    {SIM "rules:\n  r: {kind: affinity, vms: [a, [b]]}\n",
     "f.yaml:4: rules.r.vms.1 is a list, expected a pattern of names, or a section with conditions"},
    {SIM "rules:\n  r: {kind: affinity, vms: a, hosts: b}\n",
     "f.yaml:4: rules.r has hosts, expected them only in a host-affinity or a host-anti-affinity rule"},
    {SIM "rules:\n  r: {kind: host-affinity, vms: a}\n",
     "f.yaml:4: rules.r has no hosts, expected those that the host-affinity rule is about"},
    {SIM "rules:\n  r: {kind: host-affinity, vms: a, hosts: {folder: /a}}\n",
     "f.yaml:4: \"rules.r.hosts.folder\" is not a known key, expected one of name, label or tag"},
    {SIM "vms: {name: a}\n",
     "f.yaml:3: vms is a section, expected a list of entries, each with a - in front"},
    {SIM "rules:\n  \"\": {kind: affinity, vms: a}\n", "f.yaml:4: rules has a rule with an empty name"},
    {SIM "rules:\n  r: {kind: affinity, vms: [a, {folder: [/dev, /prod/]}]}\n",
     "f.yaml:4: rules.r.vms.1.folder is \"/prod/\", expected it without the / at its end"},
    {SIM "vms:\n- {label: \"=x\", automation: manual}\n",
     "f.yaml:4: vms.0.label is \"=x\", expected KEY or KEY=VALUE"},
    {SIM "vms:\n- {name: a, never_move: false}\n",
     "f.yaml:4: vms.0.never_move is \"false\", expected why the VMs are never moved"},
    {SIM "vms:\n- automation: manual\n", "f.yaml:4: vms.0 has no condition, expected at least one"},
    {SIM "vms:\n- name: a\n", "f.yaml:4: vms.0 has no setting, expected at least one"},
    {SIM "vms:\n- name: a\n  automation: partial\n",
     "f.yaml:5: vms.0.automation is \"partial\", expected inherit, disabled, manual or automatic"},
    /* failover capacity */
    {SIM "ha: yes\n", "f.yaml:3: ha is \"yes\", expected a section with a policy"},
    {SIM "ha: {hosts: 1}\n", "f.yaml:3: ha.policy missing, expected it"},
    {SIM "ha: {policy: two}\n", "f.yaml:3: ha.policy is \"two\", expected"},
    {SIM "ha: {policy: percent, hosts: 1}\n",
     "f.yaml:3: ha.hosts is a key of the policy host_failures, and ha.policy is percent"},
    {SIM "ha: {policy: host_failures, hosts: 0}\n", "f.yaml:3: ha.hosts is \"0\", expected"},
    {SIM "ha: {policy: percent, mem_percent: 101}\n", "f.yaml:3: ha.mem_percent is \"101\", expected"},
    {SIM "ha: {policy: percent}\n", "f.yaml:3: ha keeps 0 %, expected cpu_percent or mem_percent above 0"},
    {SIM "ha: {policy: dedicated}\n", "f.yaml:3: ha has no failover_hosts, expected"},
    {SIM "vms:\n  - name: a\n    restart_priority: never\n",
     "f.yaml:5: vms.0.restart_priority is \"never\", expected"},

    /* pools, and what VMs reserve */
    {SIM "pools: [a]\n", "f.yaml:3: pools is a list, expected a section with a pool below each name"},
    {SIM "pools:\n  a: 5\n", "f.yaml:4: pools.a is \"5\", expected a section"},
    {SIM "pools:\n  /a: {}\n", "f.yaml:4: pools has a pool \"/a\", expected names with a / between"},
    {SIM "pools:\n  a//b: {}\n", "f.yaml:4: pools has a pool \"a//b\", expected names"},
    {SIM "pools:\n  a:\n    cpu: {share: 5}\n",
     "f.yaml:5: \"pools.a.cpu.share\" is not a known key, did you mean \"cpu.shares\"?"},
    {SIM "pools:\n  a:\n    cpu: {limit: -1}\n", "f.yaml:5: pools.a.cpu.limit is \"-1\", expected"},
    {SIM "pools:\n  a:\n    cpu: {reservation: 2000}\n    mem: {reservation: 5, limit: 4}\n",
     "f.yaml:6: pools.a.mem.limit is 4, expected at least the reservation, 5"},
    {SIM
     "pools:\n  a: {cpu: {limit: 100}}\n  a/b: {cpu: {reservation: 60}}\n  a/c: {cpu: {reservation: 50}}\n"
     "  a/c/d: {cpu: {reservation: 50}}\n",
     "f.yaml:4: pools.a.cpu.limit is 100, expected at least what the pools below it reserve, 110"},
    {SIM "pools:\n  a: {vms: {}}\n", "f.yaml:4: pools.a.vms has no condition, expected at least one"},
    {SIM "vms:\n- name: a\n  cpu: {limit: 4, reservation: 5}\n",
     "f.yaml:5: vms.0.cpu.limit is 4, expected at least the reservation, 5"},
    {SIM "vms:\n- name: a\n  priority: highest\n",
     "f.yaml:5: vms.0.priority is \"highest\", expected low, normal or high"},
    {SIM "vms:\n- name: a\n  no_moves: ['Mon 20:00']\n",
     "f.yaml:5: vms.0.no_moves: \"Mon 20:00\" has no length"},
    {SIM "vms:\n- {name: a, never_move: x, no_moves: ['Mon for 1h']}\n",
     "f.yaml:4: vms.0 has never_move and no_moves, expected one of them"},
    {SIM "dpm:\n  enabled:\n    a: true\n", "f.yaml:4: dpm.enabled is a section, expected true or false"},
    {SIM "dpm:\n  enabled: [true]\n", "f.yaml:4: dpm.enabled is a list, expected true or false"},
    {SIM "hosts:\n- {name: a, migrations_max: 0}\n",
     "f.yaml:4: hosts.0.migrations_max is \"0\", expected a whole number from 1 to 64"},
    /* a former key is named as the file names it */
    {SIM "history:\n  mb: soon\n",
     "f.yaml:4: history.mb is \"soon\", expected a whole number from 1 to 1048576"},
    /* the shape of the file */
    {"", "f.yaml:1: cluster is missing, expected the cluster's name"},
    {"# only words\n", "f.yaml:1: cluster is missing"},
    {"---\n", "f.yaml:1: cluster is missing"},
    {"just words\n", "f.yaml:1: there are no keys at the top, expected `key: value`"},
    {"- a\n- b\n", "f.yaml:1: there are no keys at the top"},
    {SIM "---\ncluster: b\n", "f.yaml:3: a second document begins here"},
    {SIM "cluster: b\n", "f.yaml:3: \"cluster\" is given twice (first in line 1), expected it once"},
    {"cluster: &x a\nsource: *x\n", "f.yaml:2: an alias (*...) has no place here"},
    {"cluster: !!str a\n", "f.yaml:1: a tag (!...) has no place here"},
    {"cluster: a\n[1, 2]: b\n", "f.yaml:2: "},
    {"? {a: b}\n: c\n", "f.yaml:1: this cannot be a key, expected a word"},
    {"cluster: a\nsource:\n\tkind: sim\n", "f.yaml:3: not valid YAML: "},
    {"cluster: 'a\n", "f.yaml:2: not valid YAML: "},
    {"cluster: \"a\\0b\"\n", "f.yaml:1: a NUL byte has no place in a value"},
    {"\"clus\\nter\": a\n", "f.yaml:1: a key has a control character in it"},
    {"cluster: a\nx: \x01\n", "f.yaml:2: this is not text: control characters are not allowed"},
    {"cluster: \xff\xfe\n", "f.yaml:1: this is not text: "},
    {"a: {b: {c: {d: {e: {f: {g: {h: {i: {j: {k: {l: {m: {n: {o: {p: {q: 1}}}}}}}}}}}}}}}}}\n",
     "f.yaml:1: nested too deeply"},
    {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
     "f.yaml:1: nested too deeply"},
    /* keys */
    {SIM "intervall_s: 5\n", "f.yaml:3: \"intervall_s\" is not a known key, did you mean \"interval_s\"?"},
    {SIM "Cluster: b\n", "f.yaml:3: \"Cluster\" is not a known key, did you mean \"cluster\"?"},
    {SIM "\n\nsorce: {}\n", "f.yaml:5: \"sorce\" is not a known key, did you mean \"source\"?"},
    {SIM "dpm:\n  targt: 5\n", "f.yaml:4: \"dpm.targt\" is not a known key, did you mean \"dpm.target\"?"},
    {SIM "dpm:\n  sleepiness: 5\n",
     "f.yaml:4: \"dpm.sleepiness\" is not a known key, expected one of windows, ready_by,"},
    {"cluster: a\nsource:\n  kind: vsphere\n  user: u\n",
     "f.yaml:4: \"source.user\" is not a known key, did you mean \"source.username\"?"},
    {SIM "dpm:\n\tenabled: true\n", "f.yaml:4: not valid YAML: found character that cannot start any token "
                                    "(while scanning for the next token, "
                                    "line 4), expected spaces"},
    {SIM "dpm:\n  enabled:true\n  low_s: 5\n", "f.yaml:5: not valid YAML: mapping values are not allowed in "
                                               "this context, expected `key: value` with a space,"},
    {SIM "url: x\n", "f.yaml:3: \"url\" is not a known key, did you mean \"source.url\"?"},
    {SIM "dpm.enabled: true\n", "f.yaml:3: \"dpm.enabled\" is not a known key, expected it nested, \"dpm:\""},
    {SIM "colour: red\n", "f.yaml:3: \"colour\" is not a known key, expected one of cluster, state_dir,"},
    {SIM "<<: {a: b}\n", "f.yaml:3: \"<<\" is not a known key"},
    {SIM "'': {a: b}\n", "f.yaml:3: \"\" is not a known key"},
    /* sections and single values */
    {"cluster: a\nsource: sim\n", "f.yaml:2: source is \"sim\", expected a section"},
    {SIM "dpm: [enabled]\n", "f.yaml:3: dpm is a list, expected a section"},
    {"cluster: {name: a}\n", "f.yaml:1: cluster is a section, expected the name of the cluster in"},
    {"cluster: [a]\n",
     "f.yaml:1: cluster is a list, expected the name of the cluster in all output; required"},
    {"cluster:\n", "f.yaml:1: cluster has no value"},
    {"cluster: ''\n", "f.yaml:1: cluster is \"\""},
    {"cluster: ~\n", "f.yaml:1: cluster has no value"},
    {"cluster: null\n", "f.yaml:1: cluster has no value"},
    {"cluster: \"a\\tb\"\n", "f.yaml:1: cluster has a control character in it, expected text on one line"},
    {SIM "interval_s: [5]\n", "f.yaml:3: interval_s is a list, expected a whole number from 1 to 86400"},
    /* settings of a pass */
    {SIM "interval_s: 0\n", "f.yaml:3: interval_s is \"0\", expected a whole number from 1 to 86400"},
    {SIM "interval_s: soon\n", "f.yaml:3: interval_s is \"soon\", expected a whole number"},
    {SIM "interval_s: \"300\"\n",
     "f.yaml:3: interval_s is \"300\", expected a whole number from 1 to 86400, without quotes"},
    {SIM "interval_s: 1.5\n", "f.yaml:3: interval_s is \"1.5\", expected a whole number"},
    {SIM "interval_s: .nan\n", "f.yaml:3: interval_s is \".nan\", expected "},
    {SIM "migration_threshold: 6\n",
     "f.yaml:3: migration_threshold is \"6\", expected a whole number from 1 to 5"},
    {SIM "automation: automatic\n",
     "f.yaml:3: automation is \"automatic\", expected manual, partial or full"},
    {SIM "cost_benefit: yes\n", "f.yaml:3: cost_benefit is \"yes\", expected true or false"},
    {SIM "dpm:\n  enabled: 1\n", "f.yaml:4: dpm.enabled is \"1\", expected true or false"},
    {SIM "automation: \"a\\nb\"\n", "f.yaml:3: automation is \"a?b\", expected manual, partial or full"},
    /* the service's own keys */
    {"cluster: a\n", "f.yaml:1: source.kind is missing, expected vsphere, libvirt, proxmox, sim or file"},
    {"cluster: a\nsource:\n  timeout_s: 5\n", "f.yaml:2: source.kind is missing"},
    {"cluster: a\nsource: {kind: xen}\n",
     "f.yaml:2: source.kind is \"xen\", expected vsphere, libvirt, proxmox, sim or file"},
    {"cluster: a\nsource: {kind: xen}\n",
     "f.yaml:2: source.kind is \"xen\", expected vsphere, libvirt, proxmox, sim or file"},
    {"cluster: a\nsource: {kind: file}\n",
     "f.yaml:2: source.file is missing, expected it because source.kind is file"},
    {"cluster: a\nsource:\n  kind: vsphere\n", "f.yaml:2: source.url is missing"},
    {"cluster: a\nsource:\n  kind: vsphere\n  url: vc\n",
     "f.yaml:4: source.url is \"vc\", expected https://HOST[:PORT] or http://HOST[:PORT]"},
    {"cluster: a\nsource: {url: ftp://vc}\n",
     "f.yaml:2: source.url is \"ftp://vc\", expected https://HOST[:PORT] or http://"},
    {"cluster: a\nsource: {url: \"https://u:secret@vc/\"}\n",
     "f.yaml:2: source.url has a user or a password in it, expected them in username and password_file"},
    {"cluster: a\nsource: {url: \"https:///sdk\"}\n",
     "f.yaml:2: source.url is \"https:///sdk\", expected HOST"},
    {"cluster: a\nsource: {url: \"https://a:0/\"}\n", "f.yaml:2: source.url is "},
    {"cluster: a\nsource: {url: \"https://a:65536/\"}\n", "f.yaml:2: source.url is "},
    {"cluster: a\nsource: {url: \"https://a b/\"}\n", "f.yaml:2: source.url is "},
    {"cluster: a\nsource: {url: \"https://[::1/\"}\n", "f.yaml:2: source.url is "},
    {"cluster: a\nsource: {tls_verify: no}\n",
     "f.yaml:2: source.tls_verify is \"no\", expected true or false"},
    {"cluster: a\nsource: {tls_verify: 'true'}\n",
     "f.yaml:2: source.tls_verify is \"true\", expected true or false"},
    {"cluster: a\nsource: {timeout_s: 0}\n",
     "f.yaml:2: source.timeout_s is \"0\", expected a whole number from 1 to 3600"},
    {"cluster: a\nsource: {timeout_s: 1.5}\n",
     "f.yaml:2: source.timeout_s is \"1.5\", expected a whole number"},
    {"cluster: a\nsource: {timeout_s: 99999999999999999999}\n", "f.yaml:2: source.timeout_s is "},
    {"cluster: a\nsource: {timeout_s: 0x10}\n", "f.yaml:2: source.timeout_s is "},
    {"cluster: a\nsource: {timeout_s: ' 5'}\n", "f.yaml:2: source.timeout_s is "},
    {"cluster: a\nsource: {stats: fast}\n",
     "f.yaml:2: source.stats is \"fast\", expected auto, counters or quick"},
    {SIM
     "socket: /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaa\n",
     "f.yaml:3: socket is a path of "},
    {"cluster: a\nsource:\n  kind: sim\n  ca_file: /nonexistent\n",
     "f.yaml:4: source.ca_file: /nonexistent cannot be read"},
    {"cluster: a\nsource:\n  kind: sim\n  password_file: /nonexistent\n",
     "f.yaml:4: source.password_file: /nonexistent cannot be opened: No such file"},
    {"cluster: a\nsource:\n  kind: sim\n  password_file: /dev/zero\n",
     "f.yaml:4: source.password_file: /dev/zero is not a regular file"},
    /* settings of migrations that exclude each other */
    {KVM "  migration:\n    post_copy: true\n",
     "f.yaml:6: source.migration.post_copy needs timeout_s, the time after which it begins"},
    {KVM "  migration:\n    timeout_s: 60\n    connections: 2\n    post_copy: true\n",
     "f.yaml:8: source.migration.post_copy excludes connections above 1: QEMU can do only one"},
    {KVM
     "  migration: {connections: 4}\n  migrations:\n    db: {vms: ['db-*'], post_copy: true, timeout_s: 9}\n",
     "f.yaml:7: source.migrations.db.post_copy excludes connections above 1"},
    {KVM "  migration: {post_copy: true, timeout_s: 9, copy_storage: full}\n",
     "f.yaml:5: source.migration.post_copy excludes copy_storage: timeout_s would end"},
    {KVM "  migration: {copy_storage: all}\n",
     "f.yaml:5: source.migration.copy_storage is \"all\", expected no, full or incremental"},
    /* hosts' power */
    {SIM "power: {hosts: [a]}\n", "f.yaml:3: power.hosts is a list, expected a section"},
    {SIM "power:\n  hosts:\n    h: 5\n",
     "f.yaml:5: power.hosts.h is \"5\", expected a section with ipmi, redfish or wol"},
    {SIM "power: {hosts: {h: {ipmi: {adress: x}}}}\n",
     "f.yaml:3: \"power.hosts.h.ipmi.adress\" is not a known key, did you mean \"ipmi.address\"?"},
    {SIM "power: {hosts: {h: {ipmi: {username: x}}}}\n", "f.yaml:3: power.hosts.h.ipmi.address is missing"},
    {SIM "power: {hosts: {h: {ipmi: {address: x, cipher_suite: 18}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi.cipher_suite is \"18\", expected a whole number from 0 to 17"},
    {SIM "power: {hosts: {h: {ipmi: {address: x, workarounds: a}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi.workarounds is no list, expected a list"},
    {SIM "power: {hosts: {h: {wol: {mac: '02:00:00:00:00:0g'}}}}\n",
     "f.yaml:3: power.hosts.h.wol.mac is \"02:00:00:00:00:0g\", expected an Ethernet address"},
    {SIM "power: {hosts: {h: {wol: {mac: '01:00:00:00:00:01'}}}}\n",
     "f.yaml:3: power.hosts.h.wol.mac is \"01:00:00:00:00:01\", expected the address of one network card"},
    {SIM "power: {hosts: {h: {wol: {mac: '02:00:00:00:00:01', broadcast: 10.0.0.999}}}}\n",
     "f.yaml:3: power.hosts.h.wol.broadcast is \"10.0.0.999\", expected an IPv4 address"},
    {SIM "power: {hosts: {h: {wol: {mac: '02:00:00:00:00:01', relay: gateway}}}}\n",
     "f.yaml:3: power.hosts.h.wol.relay is \"gateway\", expected USER@HOST"},
    {SIM "power: {hosts: {h: {wol: {mac: '02:00:00:00:00:01', relay_key: k}}}}\n",
     "f.yaml:3: power.hosts.h.wol.relay_key is "},
    {SIM "power: {hosts: {h: {ipmi: {address: 'https://10.0.0.1'}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi.address is \"https://10.0.0.1\", expected HOST"},
    {SIM "power: {hosts: {h: {ipmi: {address: '10.0.0.1:99999'}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi.address is \"10.0.0.1:99999\", expected HOST"},
    {SIM "power: {defaults: [a]}\n", "f.yaml:3: power.defaults is a list, expected a section"},
    {SIM "power: {hosts: {h: {watts: 100}}}\n",
     "f.yaml:3: power.hosts.h.watts is \"100\", expected a list of watts such"},
    {SIM "power: {hosts: {h: {watts: [100]}}}\n",
     "f.yaml:3: power.hosts.h.watts has 1 figures, expected 2 to 101, from no load to full load"},
    {SIM "power: {hosts: {h: {watts: [100, '200']}}}\n",
     "f.yaml:3: power.hosts.h.watts.1 is \"200\", expected a number from 0 to 1000000"},
    {SIM "power: {hosts: {h: {watts: [100, [200]]}}}\n",
     "f.yaml:3: power.hosts.h.watts.1 is a list, expected a number from 0 to 1000000"},
    {SIM "power: {hosts: {h: {watts: [100, -1, 200]}}}\n",
     "f.yaml:3: power.hosts.h.watts.1 is \"-1\", expected a number from 0 to 1000000"},
    {SIM "power: {hosts: {h: {watts: [200, 100]}}}\n",
     "f.yaml:3: power.hosts.h.watts is less at full load than without any"},
    {SIM "power: {hosts: {h: {standby_w: much}}}\n",
     "f.yaml:3: power.hosts.h.standby_w is \"much\", expected a number from 0 to 1000000"},
    {SIM "power: {defaults: {ipmi: {address: x}}}\n",
     "f.yaml:3: power.defaults.ipmi.address is of one host only, expected it below power.hosts"},
    {SIM "power: {defaults: {wol: {mac: '02:00:00:00:00:01'}}}\n",
     "f.yaml:3: power.defaults.wol.mac is of one host"},
    {SIM "power: {defaults: {methods: [ipmi, lan]}}\n",
     "f.yaml:3: power.defaults.methods has \"lan\" in it, expected of ipmi, redfish, wol and hypervisor"},
    {SIM "power:\n  hosts:\n    h:\n      methods: [ipmi, wol]\n      ipmi: {address: x}\n",
     "f.yaml:6: power.hosts.h.methods names wol, but nothing is said of it, expected a section wol"},
    {SIM "power: {hosts: {h: {methods: [ipmi, ipmi], ipmi: {address: x}}}}\n",
     "f.yaml:3: power.hosts.h.methods names ipmi twice, expected each once"},
    {SIM "power: {hosts: {h: {ipmi: {address: x, workarounds: [sun21]}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi.workarounds has \"sun21\" in it, expected one of FreeIPMI's names: "},
    {SIM "power: {hosts: {h: {ipmi: {address: x, privilege: root}}}}\n",
     "f.yaml:3: power.hosts.h.ipmi.privilege is \"root\", expected user, operator or admin"},
    {SIM "power: {hosts: {h: {hard_off: maybe}}}\n",
     "f.yaml:3: power.hosts.h.hard_off is \"maybe\", expected true or"},
    {SIM "power: {hosts: {h: {timeout_s: 301}}}\n",
     "f.yaml:3: power.hosts.h.timeout_s is \"301\", expected a whole"},
    {SIM "power: {hosts: {h: {redfish: {username: u}}}}\n", "f.yaml:3: power.hosts.h.redfish.url is missing"},
    {SIM "power: {hosts: {h: {redfish: {url: 'http://b'}}}}\n",
     "f.yaml:3: power.hosts.h.redfish.url is \"http://b\", expected https://HOST[:PORT]"},
    {SIM "power: {hosts: {h: {redfish: {url: 'https://b', ca_file: /nonexistent}}}}\n",
     "f.yaml:3: power.hosts.h.redfish.ca_file: /nonexistent cannot be read"},
    {SIM "power: {hosts: {h: {redfish: {url: 'https://b', password_file: /nonexistent}}}}\n",
     "f.yaml:3: power.hosts.h.redfish.password_file: /nonexistent cannot be opened"},
    {SIM "power: {hosts: {h: {wol: {port: 5}}}}\n", "f.yaml:3: power.hosts.h.wol.mac is missing"},
    {SIM "power: {hosts: {h: {wol: {mac: '02:00:00:00:00:01', port: 0}}}}\n",
     "f.yaml:3: power.hosts.h.wol.port is \"0\", expected a whole number from 1 to 65535"},
    {SIM "mqtt: {url: 'https://b'}\n",
     "f.yaml:3: mqtt.url is \"https://b\", expected mqtts://HOST[:PORT] or mqtt://"},
    {SIM "mqtt: {url: 'mqtts://b:99999'}\n", "f.yaml:3: mqtt.url"},
    {SIM "mqtt: {url: 'mqtts://b/topics'}\n", "f.yaml:3: mqtt.url has a path"},
    {SIM "mqtt: {url: 'mqtts://u:secret@b'}\n", "f.yaml:3: mqtt.url has a user or a password in it"},
    {SIM "mqtt: {commands: [pause, status]}\n",
     "f.yaml:3: mqtt.commands has \"status\" in it, expected apply, reject, pause"},
    {SIM "mqtt: {commands: pause}\n", "f.yaml:3: mqtt.commands is no list, expected a list"},
    {SIM "mqtt: {commands: [tokens]}\n", "f.yaml:3: mqtt.commands has \"tokens\" in it, expected apply"},
    {SIM "mqtt: {commands: [pause, [run]]}\n", "f.yaml:3: mqtt.commands"},
    {SIM "mqtt: {home_assistant: 'ha/#'}\n",
     "f.yaml:3: mqtt.home_assistant is no beginning of a topic, expected true, false or the prefix"},
    {SIM "mqtt: {home_assistant: /ha}\n", "f.yaml:3: mqtt.home_assistant is no beginning of a topic"},
    {SIM "mqtt: {home_assistant: [a]}\n", "f.yaml:3: mqtt.home_assistant is a list, expected"},
    {SIM "mqtt: {topic: 'a/#'}\n", "f.yaml:3: mqtt.topic is no beginning of a topic"},
    {SIM "mqtt: {topic: $SYS}\n", "f.yaml:3: mqtt.topic is no beginning of a topic"},
    {SIM "mqtt: {topic: a/}\n", "f.yaml:3: mqtt.topic is no beginning of a topic"},
    {SIM "mqtt: {password_file: /etc/hostname}\n", "f.yaml:3: mqtt.username is missing"},
    {SIM "mqtt: {url: 'mqtts://b', cert_file: /etc/hostname}\n", "f.yaml:3: mqtt.key_file is missing"},
    {SIM "mqtt: {url: 'mqtts://b', ca_file: /nowhere}\n",
     "f.yaml:3: mqtt.ca_file: /nowhere cannot be read: No such file or directory, expected PEM certificates"},
    {SIM "mqtt: {url: 'mqtts://b', username: u, password_file: /dev/zero}\n",
     "f.yaml:3: mqtt.password_file: /dev/zero is not a regular file"},
};

static void test_wrong(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c = {.cluster = "untouched"};
        struct err err = {0};
        int r =
            config_parse("f.yaml", wrong[i].text, strlen(wrong[i].text), CONFIG_FOR_SERVICE, &a, &c, &err);

        if (r != -EINVAL || strncmp(err.text, wrong[i].sentence, strlen(wrong[i].sentence)) != 0)
            fail_msg("case %zu: %d \"%s\", expected \"%s...\"\n%s", i, r, err.text, wrong[i].sentence,
                     wrong[i].text);
        assert_int_equal(err.code, -EINVAL);
        assert_string_equal(c.cluster, "untouched");
        assert_null(strstr(err.text, "secret"));
    }
}

/* A file just below the limit that is as nasty as it can be ends soon, with a sentence. */
static void test_bombs(void **state)
{
    static const char *const pieces[] = {"a",  "- ", "{",         "[",         "a: ", "\n",
                                         "? ", "\"", "a: &a b\n", "- - - -\n", "&a "};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(pieces); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        CLEANUP(strbuf_releasep) struct strbuf text = {0};
        struct config c;
        struct err err = {0};

        strbuf_init(&text, CONFIG_SIZE_MAX);
        while (!text.overflow)
            strbuf_puts(&text, pieces[i]);
        assert_int_equal(config_parse("f.yaml", text.text, text.len, CONFIG_FOR_SERVICE, &a, &c, &err),
                         -EINVAL);
        assert_true(strncmp(err.text, "f.yaml:", 7) == 0);
        assert_true(arena_size(&a) < 64 * CONFIG_SIZE_MAX);
    }
}

static const struct {
    const char *a, *b;
    unsigned distance;
} distances[] = {
    {"", "", 0},         {"abc", "abc", 0},          {"abc", "", 3},  {"kitten", "sitting", 3},
    {"abcd", "acbd", 1}, {"interval", "intervl", 1}, {"ab", "ba", 1}, {"x", "yz", 2},
};

static void test_distances(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(distances); i++) {
        assert_int_equal(suggest_distance(distances[i].a, distances[i].b), distances[i].distance);
        assert_int_equal(suggest_distance(distances[i].b, distances[i].a), distances[i].distance);
    }
}

/* Two hosts that are switched by one controller or packet, however it is written; the key of the second one.
 */
static const struct {
    const char *a, *b;
    const char *key; /* NULL: they are two */
} pairs[] = {
    {"ipmi: {address: 10.0.0.1}", "ipmi: {address: 10.0.0.2}", NULL},
    {"ipmi: {address: 10.0.0.1}", "ipmi: {address: '10.0.0.1:623'}", "ipmi.address"},
    {"ipmi: {address: 'fe80::1'}", "ipmi: {address: '[FE80::1]:623'}", "ipmi.address"},
    {"ipmi: {address: BMC1}", "ipmi: {address: bmc1}", "ipmi.address"},
    {"ipmi: {address: 'gate:7001'}", "ipmi: {address: 'gate:7002'}", NULL},
    {"ipmi: {address: x}", "methods: [wol], ipmi: {address: x}, wol: {mac: '02:00:00:00:00:01'}", NULL},
    {"redfish: {url: 'https://b'}", "redfish: {url: 'https://b:443/redfish/v1/'}", "redfish.url"},
    {"redfish: {url: 'https://b'}", "redfish: {url: 'https://b:444'}", NULL},
    {"redfish: {url: 'https://b', system: '1'}", "redfish: {url: 'https://b', system: '2'}", NULL},
    {"redfish: {url: 'https://b', system: '1'}", "redfish: {url: 'https://b'}", "redfish.url"},
    {"ipmi: {address: 10.0.0.1}", "redfish: {url: 'https://10.0.0.1'}", "redfish.url"},
    {"redfish: {url: 'https://10.0.0.1/'}", "ipmi: {address: 10.0.0.1}", "ipmi.address"},
    {"redfish: {url: 'https://10.0.0.1', system: '1'}", "ipmi: {address: 10.0.0.1}", NULL},
    {"redfish: {url: 'https://127.0.0.1:8443'}", "ipmi: {address: '127.0.0.1:9000'}", NULL},
    {"wol: {mac: '02:00:00:00:00:ab'}", "wol: {mac: 02-00-00-00-00-AB}", "wol.mac"},
};

static void test_one_machine(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(pairs); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct config c;
        struct err err = {0};
        const char *text = arena_printf(
            &a,
            SIM "power:\n  defaults: {redfish: {username: u}}\n  hosts:\n    first: {%s}\n    second: {%s}\n",
            pairs[i].a, pairs[i].b);
        int r = config_parse("f.yaml", text, strlen(text), CONFIG_FOR_SERVICE, &a, &c, &err);
        const char *said = pairs[i].key ? arena_printf(&a,
                                                       "f.yaml:7: power.hosts.second.%s is that of "
                                                       "power.hosts.first too",
                                                       pairs[i].key)
                                        : "";

        if (r != (pairs[i].key ? -EINVAL : 0) || strncmp(err.text, said, strlen(said)) != 0)
            fail_msg("case %zu: %d \"%s\", expected \"%s\"", i, r, err.text, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_one_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
