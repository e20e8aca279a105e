/* units.c: the units of oVirt, each with its stage as a text, and the parts that these texts have in common.
 *
 * A text is JSON with ' for ". '@x' is the attribute x of the host, '#x' what VMs take there of the count x,
 * '%x' the hint x of the VM. {NAME} is a part; {PART:NAME} a part with that part for its {x}; {PROPERTY=N}
 * the value of the policy's property, N without one, and with |M, M where it is N; {pass:NAME} a condition of
 * predicates.c. {sizes:PART} is the part for each of the sizes, with a comma before it, and so are groups,
 * colours, companies and slots (internal.h). A part that is not there is its own name: {at most:sockets}. */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "dialect/ovirt/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define F UNIT_FILTER
#define W UNIT_WEIGHT
#define B UNIT_BALANCE
#define M UNIT_MANDATORY
#define HIGH "HighUtilization"
#define MINUTES "CpuOverCommitDurationMinutes"
#define LOW_MEMORY "MaxFreeMemoryForOverUtilized"
#define HIGH_MEMORY "MinFreeMemoryForUnderUtilized"
#define RATIO "VCpuToPhysicalCpuRatio"
#define OF_BALANCE " " HIGH " " MINUTES " " LOW_MEMORY " " HIGH_MEMORY " "

/* A text begins with a mark where its stage is not always there: "%x? " if some VM has the hint, "! " unless
 * its first condition is true everywhere. Then "~ ": the hosts' rank by it is the weight. Without a text a
 * filter is the condition of its name. */
/* clang-format off */
static const struct unit units[] = {
    {"6d636bf6-a35c-4f9d-b68d-0731f720cddc", "CPU", F, "",
     "['>=', ['-', '@cores base', '#exclusive cpus'], ['+', '%exclusive', ['max', '@largest vm', '%shared cpus']]]"},
    {"98842bc5-4094-4b83-8224-7b50f86a94c9", "CPUOverloaded", F, " " HIGH " " MINUTES " ",
     "['or', ['<=', '@load', {" HIGH "=90}], ['and', ['given', '@load'], ['not', ['>=', '@cpu_threshold_seconds', ['*', 60, {" MINUTES "=2}]]]]]"},
    {"58894b5b-d55d-4f85-8f82-5bf217e640b0", "Emulated-Machine", F, "", "%custom_emulated_machine? ['or', ['not', ['given', '%custom_emulated_machine']], ['in', '%custom_emulated_machine', '@emulated_machines']]"},
    {"e659c871-0bf1-4ccc-b748-f28f5d08dffd", "HA", F, "",
     "%engine? ['or', ['not', '%engine'], ['>', '@hosted_engine.score', ['max', 0, ['-', ['default', '%home hosted_engine.score', 0], 800]]]]"},
    {"43b9e654-337f-4b0d-a896-cbb22ce5a7fc", "Swap", F, " MaximumAllowedSwapUsage ",
     "['or', {paused}, ['not', ['>', {swap used}, {MaximumAllowedSwapUsage=0}]]]"},
    {"c9ddbb34-0e1d-4061-a8d7-b0893fa80932", "Memory", F, "",
     "['or', {or here}{paused}, ['and', ['<=', ['if', ['>=', {memory free}, 0], {physical}, 1e12], ['+', {memory free}, {swap free}]], ['<=', '%takes', {schedulable}]]]"},
    {"fcbfe4b1-b83e-4428-b9d3-b3d348b93be6", "NUMA", F, "", NULL},
    {"23e07b34-66dd-4735-bc45-bcddded02c05", "HugePages", F, "", "%pages? ['or', {or here}['and', true{sizes:has pages}]]"},
    {"e659c871-0bf1-4ccc-b748-f28f5d08ddda", "Migration", F, "", "%home? {migration}"},
    {"84e6ddee-ab0d-42dd-82f0-c297779db566", "VmAffinityGroups", F, "",
     "%group 0? ['and', ['or', ['>=', '#positive members', {running}], ['and', ['<', '#positive members of the cluster', {running}], "
     "['=', '#positive members', '#positive members of the cluster']]], ['=', '#negative members', 0]]"},
    {"e69808a9-8a41-40f1-94ba-dd5d385d82d8", "VmToHostsAffinityGroups", F, "", NULL},
    {"72163d1c-9468-4480-99d9-0888664eb143", "Network", F, "", NULL},
    {"53bff075-8306-446f-a53b-9c872a29d197", "HostedEngineSpares", F, " HeSparesCount ",
     "%engine of the cluster? ['or', ['default', '%engine', false], ['=', '@spare', 0], ['<', {HeSparesCount=0}, '@spares'], ['=', {HeSparesCount=0}, 0], "
     "['>', {schedulable}, ['+', '$vm.mem_mb', '%overhead', ['default', '%engine of the cluster', 0]]]]"},
    {"47ea3cd0-8a2f-438d-9f63-49534178882a", "Migration-Tsc-Frequency", F, "",
     "%tsc_frequency? {tsc}"},
    {"aae8c702-4756-4934-b84c-8daf59efc134", "Host-hooks", F, "", "%sap_agent? ['or', ['not', '%sap_agent'], ['in', '50_vhostmd', '@hooks']]"},
    {"0bd8fef9-bcb4-4250-9998-410f01608d9b", "ClusterInMaintenance", F, "", "{highly available}"},
    {"84e6ddee-ab0d-42dd-82f0-c298889db567", "InClusterUpgrade", F, "", "{not older}"},
    {"7db4ab05-81ab-42e8-868a-aee2df483edb", "OptimalForCpuEvenDistribution", W, " " RATIO " ", "{stretch:even load}"},
    {"4134247a-9c58-4b9a-8593-530bb9e37c59", "OptimalForMemoryEvenDistribution", W, "",
     "['default', ['if', ['>', {most memory}, 1], ['-', 1000, {round:memory part}], 1000], 0]"},
    {"736999d0-1023-46a4-9a75-1316ed50e15b", "OptimalForCpuPowerSaving", W, " " HIGH " ", "{stretch:power load}"},
    {"9dfe6086-646d-43b8-8eef-4d94de8472c8", "OptimalForMemoryPowerSaving", W, " " LOW_MEMORY " " HIGH_MEMORY " ",
     "['default', ['+', ['floor', ['*', ['/', ['if', ['<', {memory left}, {" LOW_MEMORY "=0}], ['min', {power memory}, ['-', ['+', {" HIGH_MEMORY "=1e12}, {" LOW_MEMORY "=0}], "
     "{memory left}]], {memory left}], {power memory}], 999]], 1], 1000]"},
    {"3ba8c988-f779-42c0-90ce-caa8243edee7", "OptimalForEvenGuestDistribution", W, " SpmVmGrace ",
     "['+', '@guests base', '#guests', {if here:one}, ['*', {spm}, {SpmVmGrace=5}]]"},
    {"591cdb81-ba67-45b4-9642-e28f61a97d57", "PreferredHosts", W, "", "%placement_policy.hosts? {preferred}"},
    {"7f262d70-6cac-11e3-981f-0800200c9a66", "OptimalForHaReservation", W, " ScaleDown ",
     "%reserved? ['default', ['if', ['given', '%reserved'], ['-', 0, ['floor', ['-', 0, ['/', {round:ha part}, {ScaleDown=1}]]]], 0], 0]"},
    {"98e92667-6161-41fb-b3fa-34f820ccbc4b", "HA weight", W, "", "%engine? ['if', ['default', '%engine', false], ['-', 1000, {round:engine part}], 1]"},
    {"84e6ddee-ab0d-42dd-82f0-c297779db567", "VmAffinityGroups weight", W, "", "%group 0? ~ ['+', 0, 0{colours:broken}{companies:company}]"},
    {"427aed70-dae3-48ba-8fe9-a902a9d563c8", "VmToHostsAffinityGroups weight", W, "", "%soft group 0? ~ ['+', 0, 0{slots:broken by host}]"},
    {"71931e14-f0e6-4f91-a7c8-d494a26e3a09", "CPU for high performance VMs", W, "",
     "%sized? ['if', ['>', '%exclusive', 0], {stretch:size}, ['if', {fits topology}, 1, 1000]]"},
    {"1b14ac11-20e9-4593-a149-2eb83c60a330", "CPU and NUMA pinning compatibility", W, "", "! ['if', {pass:pinnings agree}, 1, 1000]"},
    {"f58c1cb9-d91f-48a6-a196-c6d22fb10c4e", "Fit VM to single host NUMA node", W, "", "! ['if', {pass:fits a NUMA node}, 1, 1000]"},
    {"84e6ddee-ab0d-42dd-82f0-c298889db568", "InClusterUpgrade weight", W, "", "{upgrade}"},
    {"38440000-8cf0-14bd-c43e-10b96e4ef00a", "None", B, "", NULL},
    {"7db4ab05-81ab-42e8-868a-aee2df483ed2", "OptimalForEvenDistribution", B, OF_BALANCE RATIO " ", NULL},
    {"736999d0-1023-46a4-9a75-1316ed50e151", "OptimalForPowerSaving", B, OF_BALANCE "LowUtilization EnableAutomaticHostPowerManagement HostsInReserve ", NULL},
    {"d58c8e32-44e1-418f-9222-52cd887bf9e0", "OptimalForEvenGuestDistribution", B, " SpmVmGrace HighVmCount MigrationThreshold ", NULL},
    /* These have no UUID: no policy names them. */
    {"", "PinToHost", M, "", "%pinned? ['or', ['not', '%pinned'], {listed}, ['not', ['or', ['given', '%placement_policy.hosts'], ['given', '%home']]]]"},
    {"", "CPUTopology", M, "", NULL},
    {"", "CpuPinning", M, "", NULL},
    {"", "CPU-Level", M, "", NULL},
    {"", "Compatibility-Version", M, "", "%version? ['or', ['not', ['given', '%version']], ['in', '%version', '@supported_versions']]"},
    {"", "HostDevice", M, "", NULL},
    {"", "MDevice", M, "", NULL},
    {"", "VM leases ready", M, "", "%lease.storage_domain.id? ['or', ['not', ['given', '%lease.storage_domain.id']], ['not', ['given', '@lease_domains']], ['in', '%lease.storage_domain.id', '@lease_domains']]"},
};

static const struct {
    const char *name, *text, *of_running; /* NULL: the same for VMs that run */
} parts[] = {
    /* What is counted; a pinned member counts for more than 1000 others. */
    {"counts", "[{'name': 'memory need', 'count': '%takes'}, {'name': 'memory overhead', 'count': '%overhead'}, {'name': 'cpu load', 'count': '%load'}, "
     "{'name': 'exclusive cpus', 'count': '%exclusive'}, {'name': 'vcpus', 'count': '$vm.vcpus'}, {'name': 'guests', 'count': 1}, {'name': 'ha vms', 'count': '%ha'}"
     "{sizes:count pages}{groups:count hard members}{colours:count members}{companies:count company}]", NULL},
    {"count pages", "{'name': 'pages {x}', 'count': ['default', '%pages {x}', 0]}", NULL},
    /* VMs that start together are counted on whatever host is asked: one with a running member has more than any number of them. */
    {"running", "1000000", NULL},
    {"positive member", "['if', '%running', {running}, 1]", NULL},
    {"count hard members", "{'name': 'positive members', 'count': {positive member}, 'per': '%hard positive groups'}, {'name': 'negative members', 'count': 1, 'per': '%hard negative groups'}, "
     "{'name': 'positive members of the cluster', 'count': {positive member}, 'per': '%hard positive groups', 'over': 'cluster'}", NULL},
    {"count members", "{'name': 'members {x}', 'count': 1, 'per': '%group {x}'}", NULL},
    {"count company", "{'name': 'company {x}', 'count': ['if', '%pinned', 1001, 1], 'per': '%company {x}'}", NULL},
    {"order of the list", "{'name': 'order of the list', 'score': '@position', 'normalise': 'none', 'applies': ['place']}", NULL},
    {"here", "['=', '$host.id', '%home']", NULL},
    {"or here", "", "{here}, "},
    {"if here", "0", "['if', {here}, {x}, 0]"},
    {"unless here", "{x}", "['if', {here}, 0, {x}]"},
    {"one", "1", NULL},
    {"pass", "['and', ['or', ['not', ['given', '%{x} keeps']], ['in', '@{x}', '%{x} keeps']], ['not', ['in', '@{x}', '%{x} bars']]]", NULL},
    {"tsc", "true", "['or', ['not', ['>', '%tsc_frequency', 0]], '@tsc_scaling', ['<=', ['*', ['max', ['-', '@tsc_frequency', '%tsc_frequency'], ['-', '%tsc_frequency', '@tsc_frequency']], 1000000], "
     "['*', 250, '%tsc_frequency']]]"},
    {"load", "['number', '%load']", NULL},
    {"need", "['number', '%need']", NULL},
    {"takes", "['number', '%takes']", NULL},
    {"exclusive", "['number', '%exclusive']", NULL},
    {"migration", "true", "['or', {here}, ['and', ['!=', '@name', '%home name'], ['not', ['=', '@address', '%home address']], ['not', ['or', ['starts_with', '@address', '127.'], ['in', '@address', 'localhost', '::1']]]]]"},
    /* A VM that starts: hosts of one system are compared with the newest, hosts of several are not. */
    {"upgrade", "['if', ['=', ['most_of_hosts', '@system'], ['-', 0, ['most_of_hosts', ['-', 0, '@system']]]], ['if', ['=', '@major', ['most_of_hosts', '@major']], 0, 1000000], 0]",
     "['if', {newer:>}, 0, ['if', {newer:>=}, 100000, 1000000]]"},
    {"newer", "['or', ['not', ['given', '%home major']], ['and', ['=', '@system', '%home system'], ['{x}', '@major', '%home major']]]", NULL},
    {"not older", "true", "{newer:>=}"},
    {"highly available", "['=', '%high_availability.enabled', true]", "true"},
    {"preferred", "['if', ['or', ['not', ['given', '%placement_policy.hosts']], {listed}], 0, 10000]", "true"},
    {"listed", "['in', '$host.id', '%placement_policy.hosts']", NULL},
    {"round", "['floor', ['+', {x}, 0.5]]", NULL},
    {"stretch", "['default', ['floor', ['+', 1, ['*', ['between_hosts', {x}], 999], 0.5]], 1000]", NULL},
    /* CPUs that are left to VMs which hold none alone, without the VM and with it; the load with the VM by these. Where the host
     * does not tell the load of each CPU, those that are held alone are not taken off. */
    {"shared", "['-', '@shared base', ['*', '@per cpu', ['+', '#exclusive cpus', {if here:exclusive}]]]", NULL},
    {"cpus left", "['max', 0, ['-', {shared}, {unless here:exclusive}]]", NULL},
    {"all load", "['+', '@load base', '#cpu load', '%load']", NULL},
    {"load with", "['/', {all load}, {cpus left}]", NULL},
    {"crowded load", "['/', ['*', ['if', ['>=', ['/', ['+', '#vcpus', '$vm.vcpus'], {shared}], {" RATIO "=0|1e12}], 1000, 1], {all load}], {cpus left}]", NULL},
    {"even load", "{round:crowded load}", NULL},
    /* The limit is a whole number, so the load need not be rounded up. */
    {"power load", "['if', ['<=', ['/', ['+', '@load base', '#cpu load', {if here:load}], {shared}], {" HIGH "=1e12}], "
     "['-', 0, {round:load with}], ['/', 1, 0]]", NULL},
    /* Without the VM; with it. On its own host it has its memory already. */
    {"schedulable", "['max', 0, ['-', {sched base}, ['+', '#memory need', {if here:takes}]]]", NULL},
    {"memory left", "['-', {schedulable}, {unless here:need}]", NULL},
    {"most memory", "['most_of_hosts', {schedulable}]", NULL},
    {"memory part", "['/', ['*', ['-', {memory left}, 1], 999], ['-', {most memory}, 1]]", NULL},
    {"power memory", "['*', 1.1, {most memory}]", NULL},
    /* Pages that are missing are taken from memory. */
    {"physical", "['+', ['if', ['given', '%pages'], 0, '$vm.mem_mb'], '%overhead']", NULL},
    {"swap free", "['default', '@statistics.swap.free', 0]", NULL},
    {"paused", "['=', '%status', 'paused']", NULL},
    {"spm", "['if', ['=', '@spm.status', 'spm'], 1, 0]", NULL},
    {"sched base", "['+', ['max', 0, ['-', '@max_scheduling_memory', ['default', '@pending_memory', 0]]], '@memory taken']", NULL},
    {"swap used", "['floor', ['/', ['*', 100, ['-', ['-', '@statistics.swap.total', '@statistics.swap.free'], '@statistics.memory.free']], '@memory']]", NULL},
    {"memory free", "['-', ['-', '@memory base', '#memory overhead'], ['+', 0, 0{sizes:missing pages}]]", NULL},
    {"missing pages", "['*', ['/', {x}, 1024], ['max', 0, ['-', ['default', '%pages {x}', 0], ['max', 0, ['-', ['default', '@pages {x}', 0], '#pages {x}']]]]]", NULL},
    {"has pages", "['or', ['=', ['default', '%pages {x}', 0], 0], ['<=', ['default', '%pages {x}', 0], ['-', ['default', '@pages {x}', 0], '#pages {x}']]]", NULL},
    {"ha vms", "['+', '@ha base', '#ha vms', {if here:one}]", NULL},
    {"ha part", "['/', ['*', 100, {ha vms}], ['most_of_hosts', {ha vms}]]", NULL},
    {"engine part", "['/', ['*', ['default', '@hosted_engine.score', 0], 1000], 3400]", NULL},
    {"size", "['+', ['*', 1000, '@cpu.topology.sockets'], ['*', '@cpu.topology.sockets', '@cpu.topology.cores']]", NULL},
    {"fits topology", "['or', ['not', ['=', '%type', 'high_performance']], ['and', {at most:sockets}, {at most:cores}, {at most:threads}]]", NULL},
    {"at most", "['<=', '%cpu.topology.{x}', '@cpu.topology.{x}']", NULL},
    /* A positive group is broken where no member is, a negative one where a member is. Of as many broken groups those hosts are better that have
     * more pinned members of positive groups, then more members. */
    {"broken", "['if', ['given', '%group {x} worth'], ['*', 1000000, '%group {x} worth', ['if', ['>', '#members {x}', 0], ['-', 1, '%group {x} positive'], ['number', '%group {x} positive']]], 0]", NULL},
    {"company", "['if', ['default', '%own company {x}', false], ['-', 0, '#company {x}'], 0]", NULL},
    /* Of balances: percent of the CPU, a whole number. Only "over" of the even one counts threads as CPUs. */
    {"high", "{" HIGH "=75}", NULL},
    {"low", "{LowUtilization=0}", NULL},
    {"up", "['-', 0, ['floor', ['-', 0.000001, {x}]]]", NULL},
    {"cpus", "['-', '@shared base', ['*', '@per cpu', '#exclusive cpus']]", NULL},
    {"plain cpus", "['-', '@plain base', ['*', '@per cpu', '#exclusive cpus']]", NULL},
    {"plain cpus left", "['-', {plain cpus}, '%exclusive']", NULL},
    {"host load", "['/', ['+', '@load base', '#cpu load'], {cpus}]", NULL},
    {"plain host load", "['/', ['+', '@plain load base', '#cpu load'], {plain cpus}]", NULL},
    {"busy", "{up:host load}", NULL},
    {"plain busy", "{up:plain host load}", NULL},
    {"still", "['not', ['default', '@in motion', false]]", NULL},
    {"long", "['>=', '@cpu_threshold_seconds', ['*', 60, {" MINUTES "=2}]]", NULL},
    {"guests", "['+', '@guests base', '#guests']", NULL},
    {"slots", "['+', {guests}, ['*', {spm}, {SpmVmGrace=5}]]", NULL},
    {"over", "['and', ['>=', {busy}, {x}], {long}, ['>', {guests}, 0]]", NULL},
    {"plain over", "['and', ['>=', {plain busy}, {x}], {long}, ['>', {guests}, 0]]", NULL},
    {"under", "['and', ['<', {plain busy}, {x}], ['or', ['not', ['given', '@cpu_threshold_seconds']], {long}]]", NULL},
    {"crowded", "['>=', ['/', '#vcpus', {cpus}], {" RATIO "=0|1e12}]", NULL},
    {"memory now", "['max', 0, ['-', {sched base}, '#memory need']]", NULL},
    {"short", "['and', ['<', {memory now}, {" LOW_MEMORY "=0}], ['>', {guests}, 1]]", NULL},
    {"enough", "['>', {memory now}, {" LOW_MEMORY "=0}]", NULL},
    {"ample", "['>', {memory now}, {" HIGH_MEMORY "=0}]", NULL},
    {"fits", "['and', ['>', {plain cpus left}, 0], ['<=', ['/', ['+', '@plain load base', '#cpu load', '%load'], {plain cpus left}], "
     "['+', {high}, 0.000001]], ['>', ['-', {memory now}, '$vm.mem_mb'], {" LOW_MEMORY "=0}]]", NULL},
    /* Of sources: the overhead of a VM; the policy cluster_maintenance starts VMs with the hint alone. */
    {"overhead", "['+', ['floor', ['/', '$vm.mem_mb', 512]], 64]", NULL},
    {"broken by host", "['if', ['given', '%soft group {x}'], ['*', '%soft group {x} worth', ['if', ['in', '%soft group {x}', '@groups of hosts'], "
     "['-', 1, '%soft group {x} positive'], '%soft group {x} positive']], 0]", NULL},
};
/* clang-format on */

const struct unit *units_find(const char *id, enum unit_type type)
{
    for (size_t i = 0; id && i < COUNT_OF(units); i++)
        if (units[i].type == type && strcmp(units[i].id, id) == 0)
            return &units[i];
    return NULL;
}

const struct unit *units_at(uint32_t i)
{
    return i < COUNT_OF(units) ? &units[i] : NULL;
}

json_t *units_json(void)
{
    static const char *const types[UNIT_TYPES] = {"filter", "weight", "load_balancing"};
    json_t *ret = json_array();

    for (size_t i = 0; i < COUNT_OF(units); i++) {
        const char *weight = strstr(units[i].name, " weight");
        const int n = weight ? (int)(weight - units[i].name) : (int)strlen(units[i].name);

        if (units[i].type != M)
            (void)json_array_append_new(ret, json_pack("{s: s, s: s%, s: s, s: b, s: b}", "id", units[i].id,
                                                       "name", units[i].name, n, "type", types[units[i].type],
                                                       "internal", true, "enabled", true));
    }
    return ret;
}

/* ---- texts ---- */

static void expand(struct compiler *m, const char *text, const char *x, struct strbuf *out);

/* Parts that are numbers, found by computing. */
static double computed(const struct compiler *m, const char *name)
{
    double high = policies_number(m->cluster, HIGH, 75);

    return strcmp(name, "margin") == 0              ? fmin(floor(0.8 * high), high - 10)
           : strcmp(name, "memory overcommit") == 0 ? m->mem_overcommit
           : strcmp(name, "vcpu load") == 0         ? m->c->vcpu_percent
                                                    : UNKNOWN;
}

static void expand_part(struct compiler *m, const char *name, const char *x, struct strbuf *out)
{
    double number = computed(m, name);
    const char *of_source = m->of_source ? sources_fact(name, strlen(name)) : NULL;

    if (!isnan(number)) {
        strbuf_printf(out, "%.17g", number);
        return;
    }
    if (of_source) {
        expand(m, of_source, x, out);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (strcmp(parts[i].name, name) == 0) {
            expand(m, m->runs && parts[i].of_running ? parts[i].of_running : parts[i].text, x, out);
            return;
        }
    strbuf_puts(out, name);
}

static void expand_call(struct compiler *m, const char *what, const char *name, const char *x,
                        struct strbuf *out)
{
    CLEANUP(strbuf_releasep) struct strbuf of = STRBUF_EMPTY;
    json_t *series = json_object_get(m->series, what);
    bool asks = strcmp(what, "pass") == 0;
    bool refuses = asks && predicates_refuse(m, name);
    const char *each;
    json_t *unused;

    m->true_everywhere = m->true_everywhere && !(asks && refuses);
    json_object_foreach(series, each, unused)
    {
        strbuf_puts(out, ", ");
        expand_part(m, name, each, out);
    }
    if (series)
        return;
    expand_part(m, name, x, &of);
    if (asks && !refuses)
        strbuf_puts(out, "true");
    else
        expand_part(m, what, of.text, out);
}

static void expand_brace(struct compiler *m, char *name, const char *x, struct strbuf *out)
{
    char *colon = strchr(name, ':');
    char *equal = strchr(name, '=');
    char *other = strchr(name, '|');

    if (strcmp(name, "x") == 0) {
        strbuf_puts(out, x);
    } else if (colon) {
        *colon = '\0';
        expand_call(m, name, colon + 1, x, out);
    } else if (equal) {
        double otherwise = strtod(equal + 1, NULL);
        *equal = '\0';
        double v = policies_number(m->cluster, name, otherwise);
        strbuf_printf(out, "%.17g", other && v == otherwise ? strtod(other + 1, NULL) : v);
    } else {
        expand_part(m, name, x, out);
    }
}

static void expand(struct compiler *m, const char *text, const char *x, struct strbuf *out)
{
    for (const char *at = text; *at; at++) {
        if (*at == '{' && at[1] != '\'') { /* else JSON's own */
            char name[64];
            size_t n = strcspn(at, "}");
            (void)snprintf(name, sizeof name, "%.*s", (int)n - 1, at + 1);
            expand_brace(m, name, x, out);
            at += n;
            continue;
        }
        size_t n = *at == '\'' ? strcspn(at + 1, "'") : 0;
        const char *fact = n > 0 && m->of_source ? sources_fact(at + 1, n) : NULL;

        if (fact) {
            expand(m, fact, x, out);
            at += n + 1;
            continue;
        }
        strbuf_add(out, *at == '\'' ? "\"" : at, 1);
        const char *owner = *at != '\''    ? NULL
                            : at[1] == '@' ? "$host.attributes."
                            : at[1] == '#' ? "$host.used."
                            : at[1] == '%' ? "$vm.hints."
                                           : NULL;
        if (owner)
            strbuf_puts(out, owner);
        at += owner != NULL;
    }
}

static bool some_vm_has(const struct compiler *m, const char *hint, size_t n)
{
    const char *name = arena_strndup(m->c->a, hint, n);

    for (uint32_t i = 0; i < m->c->vms.n; i++)
        if (json_object_get(m->hints[i], name))
            return true;
    return false;
}

json_t *units_text(struct compiler *m, const char *text)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    expand(m, text, "", &out);
    return json_loads(out.text, JSON_DECODE_ANY, NULL);
}

json_t *units_expression(struct compiler *m, const struct unit *u)
{
    const char *text = u->text ? u->text : arena_printf(m->c->a, "! {pass:%s}", u->name);

    if (*text == '%') {
        size_t n = strcspn(text, "?");
        if (!some_vm_has(m, text + 1, n - 1))
            return NULL;
        text += n + 2;
    }
    bool skips = strncmp(text, "! ", 2) == 0;
    m->by_rank = strncmp(text, "~ ", 2) == 0;
    m->true_everywhere = true;
    json_t *ret = units_text(m, skips || m->by_rank ? text + 2 : text);

    if (!json_is_true(ret) && !(skips && m->true_everywhere))
        return ret;
    json_decref(ret);
    return NULL;
}
