/* controllers.c: asks each host's controllers for power state, meter and machine, and compares the answers
 * with the cluster. It switches nothing. */
#include "preflight/internal.h"

#include "base/hardware_uuid.h"
#include "base/order.h"
#include "config/power_entries.h"
#include "plugins/power_methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 3 /* of a probe: power state, meter, identity */
#define NAMES_LISTED_MAX 3
#define MARGIN_S 5 /* beyond a method's own time limit */

static const char *const words[POWER_METHOD_COUNT] = {[POWER_HYPERVISOR] = "hypervisor",
                                                      [POWER_IPMI] = "ipmi",
                                                      [POWER_REDFISH] = "redfish",
                                                      [POWER_WOL] = "wol"};

/* A method of a host. Probes of one account of a controller are made one after the other, so that a refused
 * password is sent once. */
struct probe {
    const struct power_host *host;
    enum power_method_kind kind;
    struct probe *next;         /* of the same account and address */
    const struct probe *before; /* that makes this one unnecessary; NULL: it was made */
    const char *paused;         /* the running service was refused, and tries again then; NULL: it was not */
    int code;                   /* of chassis() */
    struct err err;
    enum chassis chassis;
    int watts_code, identity_code; /* -ENOSYS: not asked */
    double watts;
    struct controller_identity identity;
};

/* ---- which probes, by account ---------------------------------------------------------------- */

static const char *address_of(const struct probe *q)
{
    return q->kind == POWER_IPMI ? q->host->ipmi.address : q->host->redfish.url;
}

static const char *username_of(const struct probe *q)
{
    return q->kind == POWER_IPMI ? q->host->ipmi.username : q->host->redfish.username;
}

static const char *password_of(const struct probe *q)
{
    return q->kind == POWER_IPMI ? q->host->ipmi.password : q->host->redfish.password;
}

static const char *password_file_of(const struct probe *q)
{
    return q->kind == POWER_IPMI ? q->host->ipmi.password_file : q->host->redfish.password_file;
}

static bool same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* "name:443" in "https://name:443/x". */
static const char *server_in(const char *address, size_t *ret_len)
{
    const char *scheme = strstr(address, "://");
    const char *from = scheme ? scheme + 3 : address;

    *ret_len = strcspn(from, "/");
    return from;
}

static bool same_server(const struct probe *a, const struct probe *b)
{
    size_t a_len;
    size_t b_len;
    const char *x = server_in(address_of(a), &a_len);
    const char *y = server_in(address_of(b), &b_len);

    return a->kind == b->kind && a_len == b_len && strncasecmp(x, y, a_len) == 0;
}

/* The methods of a host lead to one controller, and so do those of systems in one chassis. */
static bool same_account(const struct probe *a, const struct probe *b)
{
    return same(username_of(a), username_of(b)) && (a->host == b->host || same_server(a, b));
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask(struct probe *q)
{
    const struct power_method_ops *ops = power_methods[q->kind];
    struct power_method *m = NULL;
    struct err why = {0};

    q->code = ops->create(q->host, &m, &q->err);
    if (q->code < 0)
        return;
    q->code = ops->chassis(m, &q->chassis, &q->err);
    if (q->code == 0 && ops->can & POWER_CAN_MEASURE)
        q->watts_code = ops->watts(m, &q->watts, &why);
    if (q->code == 0 && ops->can & POWER_CAN_IDENTIFY)
        q->identity_code = ops->identify(m, &q->identity, &why);
    ops->destroy(m);
}

/* The controller has not answered at all. */
static bool unreachable(int code)
{
    return code == -ETIMEDOUT || code == -ECONNREFUSED || code == -EHOSTUNREACH || code == -ENETUNREACH;
}

/* A probe of the same account that has shown how this one would end. */
static const struct probe *known_from(const struct probe *first, const struct probe *q)
{
    for (const struct probe *p = first; p != q; p = p->next) {
        if (!p->before && !p->paused && p->code == -EACCES && same(password_of(p), password_of(q)))
            return p;
        if (!p->before && !p->paused && unreachable(p->code) && same_server(p, q))
            return p;
    }
    return NULL;
}

static void ask_all(void *ctx)
{
    struct probe *first = ctx;

    for (struct probe *q = first; q; q = q->next) {
        q->before = known_from(first, q);
        if (!q->before && !q->paused && (!password_file_of(q) || password_of(q)))
            ask(q);
    }
}

static size_t count_probes(const struct controllers_part *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_hosts; i++)
        n += p->hosts[i].n_sequence;
    return n;
}

static bool belongs(const struct probe *first, const struct probe *q)
{
    while (first && !same_account(first, q))
        first = first->next;
    return first != NULL;
}

static void append(struct probe *first, struct probe *q)
{
    while (first->next)
        first = first->next;
    first->next = q;
}

/* Adds the probe to the task of its account, and joins tasks that turn out to be of one account. Returns the
 * number of tasks. */
static size_t add_to_task(struct preflight_task *tasks, size_t n, struct probe *q)
{
    struct preflight_task *home = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        struct preflight_task t = tasks[i];

        if (!belongs(t.ctx, q)) {
            tasks[kept++] = t;
        } else if (!home) {
            home = &tasks[kept];
            tasks[kept++] = t;
        } else {
            append(home->ctx, t.ctx);
            home->most_s += t.most_s;
        }
    }
    if (home)
        append(home->ctx, q);
    else
        *(home = &tasks[kept++]) = (struct preflight_task){.run = ask_all, .ctx = q};
    home->most_s += CALLS * (q->host->timeout_s + MARGIN_S);
    return kept;
}

static const char *paused_until(const struct preflight_pause *pauses, size_t n, const struct probe *q)
{
    char account[POWER_METHODS_ACCOUNT_MAX];

    if (!power_methods_account(q->host, q->kind, account))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(pauses[i].account, account) == 0)
            return pauses[i].next_try;
    }
    return NULL;
}

size_t preflight_controllers_begin(const struct config *c, const struct preflight_pause *pauses,
                                   size_t n_pauses, struct arena *a, struct controllers_part *ret,
                                   struct preflight_task **ret_tasks)
{
    size_t n_tasks = 0;

    ret->hosts = config_power(c, NULL, a);
    ret->n_hosts = c->n_power_hosts;
    size_t n = count_probes(ret);
    ret->probes = arena_array(a, struct probe, n);
    struct preflight_task *tasks = arena_array(a, struct preflight_task, n);

    for (size_t i = 0; i < ret->n_hosts; i++) {
        const struct power_host *h = &ret->hosts[i];

        for (size_t k = 0; k < h->n_sequence; k++) {
            struct probe *q = &ret->probes[ret->n_probes++];
            const struct power_method_ops *ops = power_methods[h->sequence[k]];

            *q = (struct probe){
                .host = h, .kind = h->sequence[k], .watts_code = -ENOSYS, .identity_code = -ENOSYS};
            q->paused = paused_until(pauses, n_pauses, q);
            if (ops && ops->can & POWER_CAN_TELL)
                n_tasks = add_to_task(tasks, n_tasks, q);
        }
    }
    *ret_tasks = tasks;
    return n_tasks;
}

/* ---- telling --------------------------------------------------------------------------------- */

/* The power state that the cluster lets expect. */
static enum chassis expected_of(const struct host *h)
{
    switch (h->is.state) {
    case HOST_ON:
    case HOST_MAINTENANCE:
    case HOST_ENTERING_MAINTENANCE:
        return CHASSIS_ON;
    case HOST_STANDBY:
        return CHASSIS_OFF;
    case HOST_ENTERING_STANDBY:
    case HOST_POWERING_ON:
    case HOST_DISCONNECTED:
    case host_state_count:
        break;
    }
    return CHASSIS_UNKNOWN;
}

static const char *chassis_word(enum chassis c)
{
    return c == CHASSIS_ON ? "on" : "off";
}

static void advise_refused(const struct probe *q, struct preflight *ret)
{
    preflight_advise(ret,
                     "correct power.hosts.%s.%s: username or password_file; the controller may lock the "
                     "account after further refused logins",
                     q->host->name, words[q->kind]);
}

static void add_error(const struct probe *q, struct preflight *ret)
{
    preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM, "%s", q->err.text);
    if (q->code == -EACCES)
        advise_refused(q, ret);
    else if (q->code == -EPERM)
        preflight_advise(ret, "give the user the role Operator (or higher) at the controller");
    else if (q->code == -EKEYREJECTED)
        preflight_advise(ret,
                         "give the certificate of the controller's authority as "
                         "power.hosts.%s.redfish.ca_file",
                         q->host->name);
    else if (unreachable(q->code))
        preflight_advise(ret, "check that %s is the controller's address, and that %s is switched on there%s",
                         address_of(q), q->kind == POWER_IPMI ? "IPMI over LAN" : "Redfish",
                         q->code == -ETIMEDOUT ? "; a firewall may drop the packets" : "");
}

/* Asked in vain, though the controller may have it. -EPERM: many refuse so what they do not know. */
static bool failed(int code)
{
    return code < 0 && code != -ENOTSUP && code != -ENOSYS && code != -EPERM;
}

/* What is known of the machine behind a controller, against the hypervisor's word. */
static const char *machine_text(const struct probe *q, const struct host *h, bool *ret_other, struct arena *a)
{
    struct hardware_uuid theirs;
    struct hardware_uuid ours;
    const char *mark = q->identity.mark[0] ? arena_printf(a, " (%s)", q->identity.mark) : "";

    *ret_other = false;
    if (failed(q->identity_code))
        return "which machine it belongs to could not be read";
    if (q->identity_code < 0 || hardware_uuid_parse(q->identity.uuid, &theirs) < 0 ||
        hardware_uuid_is_placeholder(&theirs))
        return arena_printf(a, "it names no machine%s", mark);
    if (!h || hardware_uuid_parse(h->is.hardware_uuid, &ours) < 0 || hardware_uuid_is_placeholder(&ours))
        return arena_printf(a, "machine %s%s, not compared", q->identity.uuid, mark);
    *ret_other = !hardware_uuid_same(&theirs, &ours);
    return *ret_other ? arena_printf(a, "it is that of machine %s%s, and the host is %s", q->identity.uuid,
                                     mark, h->is.hardware_uuid)
                      : arena_printf(a, "machine as in the cluster%s", mark);
}

static void add_answer(const struct probe *q, const struct host *h, struct preflight *ret)
{
    const char *name = q->host->name;
    enum chassis expected = h ? expected_of(h) : CHASSIS_UNKNOWN;
    bool other_machine;
    const char *machine = machine_text(q, h, &other_machine, ret->a);
    bool differs = expected != CHASSIS_UNKNOWN && expected != q->chassis;
    const char *meter = q->watts_code == 0      ? arena_printf(ret->a, "%.0f W", q->watts)
                        : failed(q->watts_code) ? "its power meter could not be read"
                                                : "no power meter";
    const enum preflight_verdict good =
        failed(q->watts_code) || failed(q->identity_code) ? PREFLIGHT_NOTE : PREFLIGHT_OK;

    if (!differs && !other_machine) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, good, "%s %s: login accepted; power is %s%s; %s; %s", name,
                      words[q->kind], chassis_word(q->chassis),
                      expected != CHASSIS_UNKNOWN ? ", as in the cluster" : "", meter, machine);
        return;
    }
    if (other_machine)
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM,
                      "%s %s: the controller belongs to another machine: %s", name, words[q->kind], machine);
    else
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM,
                      "%s %s: the controller says that power is %s, and the cluster shows the host %s; %s",
                      name, words[q->kind], chassis_word(q->chassis), host_state_name(h->is.state), machine);
    preflight_advise(ret,
                     "check that %s is the controller of this host: a wrong one would switch another host, "
                     "with its VMs",
                     address_of(q));
}

static void add_probe(const struct probe *q, bool ended, const struct host *h, struct preflight *ret)
{
    const char *name = q->host->name;

    if (!ended) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM, "%s %s: no answer in time", name,
                      words[q->kind]);
    } else if (q->paused) {
        preflight_add(
            ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM,
            "%s %s: not asked, so that the account is not locked: the running service was refused there as "
            "user \"%s\", and tries again at %s",
            name, words[q->kind], username_of(q) ? username_of(q) : "", q->paused);
        preflight_advise(
            ret,
            "correct the password at the controller or in %s, and reload the service: it then tries "
            "at once",
            password_file_of(q) ? password_file_of(q) : "password_file");
    } else if (q->before) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_SKIPPED,
                      q->before->code == -EACCES
                          ? "%s %s: not asked, because %s %s has refused the same user name and password"
                          : "%s %s: not asked, because the same controller has not answered for %s %s",
                      name, words[q->kind], q->before->host->name, words[q->before->kind]);
    } else if (password_file_of(q) && !password_of(q)) {
        preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM,
                      "%s %s: not asked, because password_file %s cannot be read", name, words[q->kind],
                      password_file_of(q));
        preflight_advise_unread(ret, password_file_of(q));
    } else if (q->code < 0) {
        add_error(q, ret);
    } else {
        add_answer(q, h, ret);
    }
}

/* The task that has made the probe is among them. */
static bool task_ended(const struct probe *q, const struct preflight_task *tasks)
{
    for (;; tasks++) {
        for (const struct probe *p = tasks->ctx; p; p = p->next) {
            if (p == q)
                return tasks->done;
        }
    }
}

static bool same_machine(const struct probe *a, const struct probe *b)
{
    struct hardware_uuid x;
    struct hardware_uuid y;

    return a->identity_code == 0 && b->identity_code == 0 && hardware_uuid_parse(a->identity.uuid, &x) == 0 &&
           hardware_uuid_parse(b->identity.uuid, &y) == 0 && !hardware_uuid_is_placeholder(&x) &&
           hardware_uuid_same(&x, &y);
}

/* Two hosts cannot be one machine, even where the cluster does not say which machine a host is. */
static void add_same_machine(const struct controllers_part *p, struct preflight *ret)
{
    for (size_t i = 0; i < p->n_probes; i++) {
        for (size_t k = 0; k < i; k++) {
            const struct probe *q = &p->probes[i];
            const struct probe *other = &p->probes[k];

            if (q->host == other->host || !same_machine(q, other))
                continue;
            preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_PROBLEM,
                          "%s %s and %s %s lead to one machine (%s): one of the two would switch the other "
                          "host, with its VMs",
                          other->host->name, words[other->kind], q->host->name, words[q->kind],
                          q->identity.uuid);
            preflight_advise(ret, "correct the address of the wrong one: %s or %s", address_of(other),
                             address_of(q));
            break;
        }
    }
}

/* Hosts with a method that says nothing: Wake-on-LAN. */
static void add_untold(const struct controllers_part *p, struct preflight *ret)
{
    const char *names = "";
    size_t n = 0;

    for (size_t i = 0; i < p->n_probes; i++) {
        if (p->probes[i].kind != POWER_WOL)
            continue;
        if (n < NAMES_LISTED_MAX)
            names = arena_printf(ret->a, "%s%s%s", names, n > 0 ? ", " : "", p->probes[i].host->name);
        n++;
    }
    if (n == 0)
        return;
    preflight_add(ret, PREFLIGHT_CONTROLLERS, PREFLIGHT_NOTE,
                  "Wake-on-LAN of %zu host%s (%s%s): whether a host wakes cannot be seen without trying", n,
                  n == 1 ? "" : "s", names, n > NAMES_LISTED_MAX ? ", ..." : "");
    preflight_advise(ret, "prove each with `ballast wake HOST --verify`");
}

void preflight_controllers_end(const struct controllers_part *p, const struct preflight_task *tasks,
                               const struct snapshot *snap, struct preflight *ret)
{
    for (size_t i = 0; i < p->n_probes; i++) {
        const struct probe *q = &p->probes[i];
        const struct entry_match m = snap ? power_entries_match(p->hosts, p->n_hosts, snap, q->host->name)
                                          : (struct entry_match){.use = ENTRY_NOT_COMPARED};

        if (power_methods[q->kind] && power_methods[q->kind]->can & POWER_CAN_TELL)
            add_probe(q, task_ended(q, tasks), m.use == ENTRY_USED ? &snap->hosts[m.host] : NULL, ret);
    }
    add_same_machine(p, ret);
    add_untold(p, ret);
}

/* ---- entries --------------------------------------------------------------------------------- */

static void add_match(const struct power_host *h, const struct entry_match *m, const struct snapshot *snap,
                      struct preflight *ret)
{
    switch (m->use) {
    case ENTRY_NOT_COMPARED:
    case ENTRY_USED:
        return;
    case ENTRY_UNKNOWN:
        preflight_add(ret, PREFLIGHT_CONFIGURATION, PREFLIGHT_PROBLEM,
                      "power.hosts.%s: the cluster has no host of that id or name", h->name);
        preflight_advise(ret, "write the host's name as the cluster has it (`ballast hosts`)");
        return;
    case ENTRY_NOT_CLEAR:
        preflight_add(
            ret, PREFLIGHT_CONFIGURATION, PREFLIGHT_PROBLEM,
            "power.hosts.%s: %u hosts of the cluster have that name, so it is used for none of them", h->name,
            m->named);
        preflight_advise(ret, "name them by their ids");
        return;
    case ENTRY_TWICE:
        preflight_add(ret, PREFLIGHT_CONFIGURATION, PREFLIGHT_PROBLEM,
                      "power.hosts.%s: the host has an entry by its id, %s, too: this one is not used",
                      h->name, snap->hosts[m->host].is.id);
        preflight_advise(ret, "remove one of the two");
        return;
    }
}

static bool has_no_way(const struct controllers_part *p, const struct snapshot *snap, const struct host *h)
{
    return h->is.wake_methods == 0 && !h->is.vsan && !h->is.serves_storage &&
           h->is.dpm != AUTOMATION_DISABLED && !power_entries_find(p->hosts, p->n_hosts, snap, h->is.id);
}

/* Hosts that DPM may not put to standby, because nothing could wake them. */
static void add_without_way(const struct controllers_part *p, const struct snapshot *snap,
                            struct preflight *ret)
{
    const char **names = arena_array(ret->a, const char *, snap->n_hosts);
    const char *listed = "";
    size_t n = 0;

    for (uint32_t i = 0; i < snap->n_hosts; i++) {
        const struct host *h = &snap->hosts[i];

        if (has_no_way(p, snap, h))
            names[n++] = h->is.name ? h->is.name : h->is.id;
    }
    if (n == 0)
        return;
    qsort(names, n, sizeof *names, order_names);
    for (size_t i = 0; i < n && i < NAMES_LISTED_MAX; i++)
        listed = arena_printf(ret->a, "%s%s%s", listed, i > 0 ? ", " : "", names[i]);
    preflight_add(
        ret, PREFLIGHT_CONFIGURATION, PREFLIGHT_PROBLEM,
        "nothing can wake %zu of %u hosts (%s%s), so they are never put to standby: the source offers "
        "no way, and power.hosts has no entry for them",
        n, snap->n_hosts, listed, n > NAMES_LISTED_MAX ? ", ..." : "");
    preflight_advise(ret, "add entries to power.hosts, or leave these hosts out: hosts: [{name: ..., dpm: "
                          "disabled}]");
}

void preflight_power_entries(const struct config *c, const struct controllers_part *p,
                             const struct snapshot *snap, struct preflight *ret)
{
    size_t before = ret->n;

    if (!snap)
        return;
    for (size_t i = 0; i < p->n_hosts; i++) {
        const struct entry_match m = power_entries_match(p->hosts, p->n_hosts, snap, p->hosts[i].name);

        add_match(&p->hosts[i], &m, snap, ret);
    }
    if (c->policy.dpm.enabled)
        add_without_way(p, snap, ret);
    if (ret->n == before && p->n_hosts > 0)
        preflight_add(ret, PREFLIGHT_CONFIGURATION, PREFLIGHT_OK,
                      "power.hosts: each of the %zu entries is for one host of the cluster", p->n_hosts);
}
