#include "config/hosts.h"

#include "config/keys.h"
#include "config/own.h"
#include "config/reach.h"

#include "base/cleanup.h"
#include "base/ipmi_workaround.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_BYTES 128 /* what the name of a task has room for */
#define CHANGED_SHOWN 10   /* hosts that are named when they have changed */

static const char *const method_words[POWER_METHOD_COUNT] = {[POWER_HYPERVISOR] = "hypervisor",
                                                             [POWER_IPMI] = "ipmi",
                                                             [POWER_REDFISH] = "redfish",
                                                             [POWER_WOL] = "wol"};

/* Secrets, and the keys that name their files. */
static const struct {
    const char *key;
    size_t path, secret;
} secrets[] = {
#define SECRET(key, path, secret)                                                                            \
    {                                                                                                        \
        key, offsetof(struct config_power_host, path), offsetof(struct config_power_host, secret)            \
    }
    SECRET("ipmi.password_file", ipmi.password_file, ipmi.password),
    SECRET("ipmi.k_g_file", ipmi.k_g_file, ipmi.k_g),
    SECRET("redfish.password_file", redfish.password_file, redfish.password),
    SECRET("wol.secureon_file", wol.secureon_file, wol.secureon),
};

#define N_SECRETS (sizeof secrets / sizeof *secrets)

static const char **text_at(const struct config_power_host *h, size_t offset)
{
    return (const char **)((char *)(uintptr_t)h + offset);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(const struct reader *r, unsigned line, const char *key, const char *what)
{
    return err_set(r->err, -EINVAL, "%s:%u: %s%s %s", r->file, line, r->prefix, key, what);
}

static unsigned line_of(const struct reader *r, const char *key, unsigned otherwise)
{
    for (size_t i = 0; i < r->n_keys; i++) {
        if (strcmp(r->keys[i].path, key) == 0 && r->lines[i])
            return r->lines[i];
    }
    return otherwise;
}

/* A file that the defaults name is read once, and complained about once. */
static int read_secrets(const struct reader *r, struct config_power_host *h)
{
    for (size_t i = 0; i < N_SECRETS; i++) {
        int e;

        if (read_given(r, secrets[i].key) && (e = read_secret(r, secrets[i].key, *text_at(h, secrets[i].path),
                                                              text_at(h, secrets[i].secret))) < 0)
            return e;
    }
    return 0;
}

static int check_workarounds(const struct reader *r, const struct config_power_host *h, unsigned line)
{
    for (const char *const *w = h->ipmi.workarounds; *w; w++) {
        if (!ipmi_workaround_known(*w))
            return refuse(r, line_of(r, "ipmi.workarounds", line), "ipmi.workarounds",
                          arena_printf(r->a, "has \"%.40s\" in it, expected of FreeIPMI's names: %s", *w,
                                       ipmi_workaround_names()));
    }
    return 0;
}

static int check_ca_file(const struct reader *r, const struct config_power_host *h, unsigned line)
{
    const char *path = h->redfish.ca_file;

    if (!path || r->use == CONFIG_FOR_POLICY || access(path, R_OK) == 0)
        return 0;
    return refuse(r, line_of(r, "redfish.ca_file", line), "redfish.ca_file",
                  arena_printf(r->a, "names %s, which cannot be read: %s, expected PEM certificates", path,
                               strerror(errno)));
}

static int kind_of_word(const char *word)
{
    for (int k = 0; k < POWER_METHOD_COUNT; k++) {
        if (strcmp(method_words[k], word) == 0)
            return k;
    }
    return -1;
}

static bool has_method(const struct config_power_host *h, enum power_method_kind kind)
{
    switch (kind) {
    case POWER_HYPERVISOR:
        return true;
    case POWER_IPMI:
        return h->ipmi.address != NULL;
    case POWER_REDFISH:
        return h->redfish.url != NULL;
    case POWER_WOL:
        return h->wol.mac != NULL;
    case POWER_METHOD_COUNT:
        break;
    }
    return false;
}

static int check_methods(const struct reader *r, const struct config_power_host *h, bool defaults,
                         unsigned line)
{
    bool given = read_given(r, "methods");
    unsigned seen = 0;

    line = line_of(r, "methods", line);
    for (const char *const *w = h->methods; given && *w; w++) {
        int kind = kind_of_word(*w);

        if (kind < 0)
            return refuse(
                r, line, "methods",
                arena_printf(r->a, "has \"%.40s\" in it, expected of ipmi, redfish, wol and hypervisor", *w));
        if (seen & 1u << kind)
            return refuse(r, line, "methods", arena_printf(r->a, "names %s twice, expected each once", *w));
        if (!defaults && !has_method(h, (enum power_method_kind)kind))
            return refuse(
                r, line, "methods",
                arena_printf(r->a, "names %s, but nothing is said of it, expected a section %s", *w, *w));
        seen |= 1u << kind;
    }
    return 0;
}

static int check_common(const struct reader *r, const struct config_power_host *h, bool defaults,
                        unsigned line)
{
    int e;

    if ((e = check_methods(r, h, defaults, line)) < 0 || (e = check_workarounds(r, h, line)) < 0 ||
        (e = reach_check(r, h, line)) < 0)
        return e;
    if (read_given(r, "redfish.ca_file"))
        e = check_ca_file(r, h, line);
    if (e == 0 && read_given(r, "redfish.tls_verify") && !h->redfish.tls_verify)
        config_warn(
            r, line_of(r, "redfish.tls_verify", line),
            "%sredfish: TLS CERTIFICATES ARE NOT VERIFIED: whoever can reach the network can pose as the "
            "controller and read its password",
            r->prefix);
    return e;
}

/* What belongs to one host has no place among the defaults. */
static int read_power_defaults(const struct reader *r, const struct node *n, struct config_power_host *h)
{
    static const char *const own[] = {"ipmi.address", "redfish.url", "redfish.system", "wol.mac"};
    int e = read_section(r, n);

    if (e < 0)
        return e;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (read_given(r, own[i]))
            return refuse(r, line_of(r, own[i], n->line), own[i],
                          "is of one host only, expected it below power.hosts");
    }
    if ((e = read_secrets(r, h)) < 0)
        return e;
    return check_common(r, h, true, n->line);
}

/* A section of a method without what makes it one is a mistake, unless it is the defaults'. */
static int check_sections(const struct reader *r, const struct node *n, const struct config_power_host *h)
{
    const struct {
        const char *section, *key, *value, *what;
    } needs[] = {
        {"ipmi", "ipmi.address", h->ipmi.address, "is missing, expected the address of its BMC"},
        {"redfish", "redfish.url", h->redfish.url, "is missing, expected where its Redfish service is"},
        {"wol", "wol.mac", h->wol.mac, "is missing, expected the Ethernet address that wakes it"},
    };

    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        if (tree_child(n, needs[i].section) && !needs[i].value)
            return refuse(r, n->line, needs[i].key, needs[i].what);
    }
    return 0;
}

static int read_host(const struct reader *r, const struct node *n, struct config_power_host *h)
{
    int e;

    if (n->kind != NODE_MAP)
        return err_set(r->err, -EINVAL,
                       "%s:%u: power.hosts.%.64s %s, expected a section with ipmi, redfish or wol", r->file,
                       n->line, n->key, read_kind_of(n));
    if (strlen(n->key) > NAME_MAX_BYTES)
        return err_set(r->err, -EINVAL,
                       "%s:%u: power.hosts.%.64s... is a name of %zu bytes, expected at most %d", r->file,
                       n->line, n->key, strlen(n->key), NAME_MAX_BYTES);
    h->name = n->key;
    if ((e = read_section(r, n)) < 0 || (e = read_secrets(r, h)) < 0 || (e = check_sections(r, n, h)) < 0)
        return e;
    return check_common(r, h, false, n->line);
}

bool power_is_used(const struct config_power_host *h, enum power_method_kind kind)
{
    const char *const *w = h->methods;

    while (*w && kind_of_word(*w) != (int)kind)
        w++;
    return has_method(h, kind) && (!*h->methods || *w);
}

/* Whoever switches one of them switches the other, with all that runs there. */
static int check_own(const struct reader *r, const struct config *c, size_t ix, unsigned line)
{
    for (size_t i = 0; i < ix; i++) {
        const char *key = own_shared(&c->power_hosts[i], &c->power_hosts[ix]);

        if (key)
            return refuse(r, line_of(r, key, line), key,
                          arena_printf(r->a,
                                       "is that of power.hosts.%.64s too, expected one of its own: "
                                       "the wrong machine would be switched off",
                                       c->power_hosts[i].name));
    }
    return 0;
}

int read_power(const struct reader *r, const struct node *power)
{
    const struct node *defaults = power ? tree_child(power, "defaults") : NULL;
    const struct node *hosts = power ? tree_child(power, "hosts") : NULL;
    struct config *c = r->config;
    struct config_power_host *base = arena_new(r->a, struct config_power_host);
    struct reader sub = reader_make(r, "power.defaults.", power_host_keys, n_power_host_keys, base);
    size_t i = 0;
    int e;

    read_defaults(&sub);
    if (defaults) {
        if ((e = read_power_defaults(&sub, defaults, base)) < 0)
            return e;
        base->name = "defaults";
        c->power_defaults = base;
    }
    if (!hosts)
        return 0;
    c->power_hosts = arena_array(r->a, struct config_power_host, hosts->n ? hosts->n : 1);
    for (const struct node *h = hosts->first; h; h = h->next, i++) {
        c->power_hosts[i] = *base;
        sub = reader_make(r, arena_printf(r->a, "power.hosts.%.64s.", h->key), power_host_keys,
                          n_power_host_keys, &c->power_hosts[i]);
        if ((e = read_host(&sub, h, &c->power_hosts[i])) < 0 || (e = check_own(&sub, c, i, h->line)) < 0)
            return e;
    }
    c->n_power_hosts = hosts->n;
    return 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static const char *const *copy_words(const char *const *words, struct arena *a)
{
    size_t n = 0;

    while (words[n])
        n++;
    const char **copy = arena_array(a, const char *, n + 1);

    for (size_t i = 0; i < n; i++)
        copy[i] = arena_strdup(a, words[i]);
    return copy;
}

static struct power_curve copy_curve(const struct power_curve *c, struct arena *a)
{
    double *watts = arena_array(a, double, c->n ? c->n : 1);

    for (uint32_t i = 0; i < c->n; i++)
        watts[i] = c->watts[i];
    return (struct power_curve){watts, c->n};
}

static struct config_power_host copy_host(const struct config_power_host *h, struct arena *a)
{
    struct config_power_host r = *h;

    r.name = arena_strdup(a, h->name);
    for (size_t i = 0; i < n_power_host_keys; i++) {
        const struct config_key *key = &power_host_keys[i];
        void *at = (char *)&r + key->offset;

        if (key->type == CONFIG_WORDS)
            *(const char *const **)at = copy_words(*(const char *const **)at, a);
        else if (key->type == CONFIG_WATTS)
            *(struct power_curve *)at = copy_curve(at, a);
        else if (key->type != CONFIG_BOOL && key->type != CONFIG_INT && key->type != CONFIG_NUMBER)
            *(const char **)at = arena_strdup(a, *(const char **)at);
    }
    for (size_t i = 0; i < N_SECRETS; i++)
        *text_at(&r, secrets[i].secret) = arena_strdup(a, *text_at(&r, secrets[i].secret));
    return r;
}

/* ---- as the methods know it ------------------------------------------------------------------ */

/* What is named in the order, or all there is: controllers, then a packet, then the hypervisor. A method that
 * the defaults name and the host does not have is left out. */
static size_t order_of(const struct config_power_host *h, enum power_method_kind order[POWER_METHOD_COUNT])
{
    static const enum power_method_kind all[] = {POWER_IPMI, POWER_REDFISH, POWER_WOL, POWER_HYPERVISOR};
    size_t n = 0;

    for (const char *const *w = h->methods; *w && n < POWER_METHOD_COUNT; w++) {
        enum power_method_kind kind = (enum power_method_kind)kind_of_word(*w);

        if (has_method(h, kind))
            order[n++] = kind;
    }
    for (size_t i = 0; !h->methods[0] && i < POWER_METHOD_COUNT; i++) {
        if (has_method(h, all[i]))
            order[n++] = all[i];
    }
    return n;
}

static struct power_host power_host_of(const struct config_power_host *h)
{
    return (struct power_host){
        .name = h->name,
        .timeout_s = (unsigned)h->timeout_s,
        .hard_off = h->hard_off,
        .ipmi = {.address = h->ipmi.address,
                 .username = h->ipmi.username,
                 .password = h->ipmi.password,
                 .k_g = h->ipmi.k_g,
                 .cipher_suite = (unsigned)h->ipmi.cipher_suite,
                 .workarounds = h->ipmi.workarounds,
                 .privilege = h->ipmi.privilege,
                 .console = h->ipmi.console},
        .redfish = {.url = h->redfish.url,
                    .username = h->redfish.username,
                    .password = h->redfish.password,
                    .ca_file = h->redfish.ca_file,
                    .tls_verify = h->redfish.tls_verify,
                    .system = h->redfish.system},
        .wol = {.mac = h->wol.mac,
                .secureon = h->wol.secureon,
                .interface = h->wol.interface,
                .broadcast = h->wol.broadcast,
                .port = (unsigned)h->wol.port,
                .relay = h->wol.relay,
                .relay_key = h->wol.relay_key},
    };
}

struct power_host *config_power(const struct config *c, const atomic_bool *stop, struct arena *a)
{
    struct power_host *list = arena_array(a, struct power_host, c->n_power_hosts ? c->n_power_hosts : 1);

    for (size_t i = 0; i < c->n_power_hosts; i++) {
        enum power_method_kind *order = arena_array(a, enum power_method_kind, POWER_METHOD_COUNT);

        const struct config_power_host own = copy_host(&c->power_hosts[i], a);

        list[i] = power_host_of(&own);
        list[i].n_order = order_of(&c->power_hosts[i], order);
        list[i].order = order;
        list[i].stop = stop;
    }
    return list;
}

struct power_curve config_watts(const struct config_power_host *h, struct arena *a)
{
    return copy_curve(&h->watts, a);
}

/* ---- what a reload changes ------------------------------------------------------------------- */

const char *config_words_text(const char *const *words, struct arena *a)
{
    const char *all = "";

    for (size_t i = 0; words[i]; i++)
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", words[i]);
    return arena_printf(a, "[%s]", all);
}

const char *config_number_text(double v, struct arena *a)
{
    return isnan(v) ? NULL : arena_printf(a, "%.12g", v);
}

const char *config_watts_text(const struct power_curve *c, struct arena *a)
{
    const char *all = "";

    for (uint32_t i = 0; i < c->n; i++)
        all = arena_printf(a, "%s%s%.12g", all, i ? ", " : "", c->watts[i]);
    return c->n > 0 ? arena_printf(a, "[%s]", all) : NULL;
}

static const char *value_text(const struct config_power_host *h, const struct config_key *key,
                              struct arena *a)
{
    const void *at = (const char *)h + key->offset;

    switch (key->type) {
    case CONFIG_BOOL:
        return *(const bool *)at ? "true" : "false";
    case CONFIG_INT:
        return arena_printf(a, "%lld", (long long)*(const int64_t *)at);
    case CONFIG_NUMBER:
        return config_number_text(*(const double *)at, a);
    case CONFIG_WATTS:
        return config_watts_text(at, a);
    case CONFIG_WORDS:
        return config_words_text(*(const char *const *const *)at, a);
    case CONFIG_TEXT:
    case CONFIG_PATH:
    case CONFIG_URL:
    case CONFIG_WORD:
    case CONFIG_MAC:
    case CONFIG_POWER_HOSTS:
    case CONFIG_POWER_DEFAULTS:
    case CONFIG_POLICY:
        break;
    }
    return *(const char *const *)at;
}

static void put_host(const struct config_power_host *h, struct arena *a, struct strbuf *out)
{
    bool any = false;

    strbuf_printf(out, "%s: {", h->name);
    for (size_t i = 0; i < n_power_host_keys; i++) {
        const char *text = value_text(h, &power_host_keys[i], a);

        if (!text)
            continue;
        strbuf_printf(out, "%s%s: %s", any ? ", " : "", power_host_keys[i].path, text);
        any = true;
    }
    strbuf_puts(out, "}");
}

const char *power_hosts_text(const struct config_power_host *hosts, size_t n, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf all = {0};

    if (n == 0)
        return NULL;
    strbuf_init(&all, STRBUF_NO_LIMIT);
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&all, i ? ", " : "{");
        put_host(&hosts[i], a, &all);
    }
    strbuf_puts(&all, "}");
    return arena_strdup(a, all.text);
}

static const struct config_power_host *find_host(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_power_hosts; i++) {
        if (strcmp(c->power_hosts[i].name, name) == 0)
            return &c->power_hosts[i];
    }
    return NULL;
}

static bool same_text(const char *x, const char *y)
{
    return x == y || (x && y && strcmp(x, y) == 0);
}

static bool same_host(const struct config_power_host *x, const struct config_power_host *y, struct arena *a)
{
    return x && y && same_text(power_hosts_text(x, 1, a), power_hosts_text(y, 1, a));
}

/* Of one list the hosts that the other has otherwise, or not. */
static size_t count_changed(const struct config *c, const struct config *other, bool gone, struct arena *a,
                            struct strbuf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_power_hosts; i++) {
        const struct config_power_host *h = &c->power_hosts[i];
        const struct config_power_host *there = find_host(other, h->name);

        if (gone ? there != NULL : same_host(h, there, a))
            continue;
        if (n++ < CHANGED_SHOWN)
            strbuf_printf(out, "%s%s", out->len > 0 ? ", " : "", h->name);
    }
    return n;
}

void power_change_text(const struct config *old, const struct config *now, struct arena *a,
                       const char **ret_from, const char **ret_to)
{
    CLEANUP(strbuf_releasep) struct strbuf names = {0};

    strbuf_init(&names, STRBUF_NO_LIMIT);
    size_t n = count_changed(now, old, false, a, &names) + count_changed(old, now, true, a, &names);

    *ret_from = arena_printf(a, "%zu hosts", old->n_power_hosts);
    *ret_to = arena_printf(a, "%zu hosts, changed: %s%s", now->n_power_hosts,
                           names.len > 0 ? names.text : "their order", n > CHANGED_SHOWN ? ", ..." : "");
}

bool power_secrets_changed(const struct config *old, const struct config *now)
{
    for (size_t i = 0; i < now->n_power_hosts; i++) {
        const struct config_power_host *h = &now->power_hosts[i];
        const struct config_power_host *was = find_host(old, h->name);

        for (size_t k = 0; was && k < N_SECRETS; k++) {
            if (!same_text(*text_at(was, secrets[k].secret), *text_at(h, secrets[k].secret)))
                return true;
        }
    }
    return false;
}

void power_keep(const struct config *old, struct config *now, struct arena *a)
{
    struct config_power_host *list =
        arena_array(a, struct config_power_host, old->n_power_hosts ? old->n_power_hosts : 1);

    for (size_t i = 0; i < old->n_power_hosts; i++)
        list[i] = copy_host(&old->power_hosts[i], a);
    now->power_hosts = list;
    now->n_power_hosts = old->n_power_hosts;
    if (old->power_defaults) {
        now->power_defaults = arena_new(a, struct config_power_host);
        *now->power_defaults = copy_host(old->power_defaults, a);
    } else {
        now->power_defaults = NULL;
    }
}
