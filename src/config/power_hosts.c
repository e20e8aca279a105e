/* power_hosts.c: the section `power:`: the defaults, then each host; the changes of a reload. */
#include "config/sections.h"

#include "config/keys.h"
#include "plugins/power_method_keys.h"

#include "base/cleanup.h"
#include "base/fingerprint.h"
#include "base/strbuf.h"
#include "base/texts.h"

#include <string.h>

#define NAME_MAX_BYTES 128 /* the longest name that a task can hold */
#define CHANGED_SHOWN 10   /* changed hosts that a log line names */

static const char *const method_words[POWER_METHOD_COUNT] = {[POWER_HYPERVISOR] = "hypervisor",
                                                             [POWER_IPMI] = "ipmi",
                                                             [POWER_REDFISH] = "redfish",
                                                             [POWER_WOL] = "wol"};

/* ---- reading --------------------------------------------------------------------------------- */

static int kind_of_word(const char *word)
{
    for (int k = 0; k < POWER_METHOD_COUNT; k++) {
        if (strcmp(method_words[k], word) == 0)
            return k;
    }
    return -1;
}

/* The key that gives a host this method; NULL: every host has it. */
static const struct field *required_of(enum power_method_kind kind)
{
    for (size_t m = 0; power_method_keys[m]; m++) {
        const struct schema *keys = &power_method_keys[m]->keys;

        for (size_t i = 0; i < keys->n; i++) {
            if (power_method_keys[m]->kind == kind && keys->fields[i].flags & FIELD_REQUIRED)
                return &keys->fields[i];
        }
    }
    return NULL;
}

static bool has_method(const struct config_power_host *h, enum power_method_kind kind)
{
    const struct field *f = required_of(kind);

    return !f || *(const char *const *)((const char *)&h->host + f->offset);
}

static int check_methods(const struct section *s, const struct config_power_host *h, bool defaults)
{
    bool given = section_has(s, "methods");
    unsigned seen = 0;

    for (const char *const *w = h->methods; given && *w; w++) {
        int kind = kind_of_word(*w);

        if (kind < 0)
            return section_refuse(s, "methods",
                                  "has \"%.40s\" in it, expected of ipmi, redfish, wol and hypervisor", *w);
        if (seen & 1u << kind)
            return section_refuse(s, "methods", "names %s twice, expected each once", *w);
        if (!defaults && !has_method(h, (enum power_method_kind)kind))
            return section_refuse(s, "methods", "names %s, but nothing is said of it, expected a section %s",
                                  *w, *w);
        seen |= 1u << kind;
    }
    return 0;
}

static int check_common(const struct section *s, const struct schema *keys, struct config_power_host *h,
                        bool defaults)
{
    const struct power_curve *watts = &h->watts;
    int e;

    if (watts->n > 0 && watts->watts[watts->n - 1] < watts->watts[0])
        return section_refuse(
            s, "watts", "is less at full load than without any, expected watts from no load to full load");
    if ((e = check_methods(s, h, defaults)) < 0 || (e = power_methods_check(s, &h->host)) < 0)
        return e;
    return section_files(s, keys, "", h);
}

/* Keys of a single host are refused among the defaults. */
static int read_power_defaults(const struct section *s, const struct schema *keys,
                               struct config_power_host *h)
{
    int e = reader_object(&s->reader, s->root, keys, h);

    for (size_t i = 0; i < keys->n && e == 0; i++) {
        if (keys->fields[i].flags & FIELD_ONE_HOST && section_has(s, keys->fields[i].name))
            e = section_refuse(s, keys->fields[i].name, "is of one host only, expected it below power.hosts");
    }
    return e < 0 ? e : check_common(s, keys, h, true);
}

/* A method's section without its required key is an error, except in the defaults. */
static int check_sections(const struct section *s, const struct config_power_host *h)
{
    for (size_t m = 0; power_method_keys[m]; m++) {
        const struct field *f = required_of(power_method_keys[m]->kind);

        if (section_has(s, power_method_keys[m]->section) && !has_method(h, power_method_keys[m]->kind))
            return section_refuse(s, f->name, "is missing, expected %s", f->meaning);
    }
    return 0;
}

static int read_host(const struct section *s, const struct schema *keys, struct config_power_host *h)
{
    const struct node *n = s->root;
    int e;

    if (n->kind != NODE_MAP)
        return reader_refuse(&s->reader, n, "a section with ipmi, redfish or wol");
    if (strlen(n->key) > NAME_MAX_BYTES)
        return reader_complain(&s->reader, n, "is a name of %zu bytes, expected at most %d", strlen(n->key),
                               NAME_MAX_BYTES);
    h->host.name = n->key;
    if ((e = reader_object(&s->reader, n, keys, h)) < 0 || (e = check_sections(s, h)) < 0)
        return e;
    return check_common(s, keys, h, false);
}

bool config_power_uses(const struct config_power_host *h, enum power_method_kind kind)
{
    const char *const *w = h->methods;

    while (*w && kind_of_word(*w) != (int)kind)
        w++;
    return has_method(h, kind) && (!*h->methods || *w);
}

/* A power change of one would switch the other, with all its VMs. */
static int check_duplicates(const struct section *s, const struct config *c, size_t ix)
{
    for (size_t i = 0; i < ix; i++) {
        const char *key = duplicate_controllers_key(&c->power_hosts[i], &c->power_hosts[ix]);

        if (key)
            return section_refuse(s, key,
                                  "is that of power.hosts.%.64s too, expected one of its own: the wrong "
                                  "machine would be switched off",
                                  c->power_hosts[i].host.name);
    }
    return 0;
}

int config_read_power(const struct section *s)
{
    const struct node *defaults = node_find(s->root, "power.defaults");
    const struct node *hosts = node_find(s->root, "power.hosts");
    struct config *c = s->config;
    struct config_power_host *base = arena_new(s->reader.a, struct config_power_host);
    struct section sub = section_at(s, "power.defaults.", defaults);
    const struct schema keys = config_power_keys(s->reader.a);
    size_t i = 0;
    int e;

    reader_defaults(&s->reader, &keys, base);
    if (defaults) {
        if ((e = read_power_defaults(&sub, &keys, base)) < 0)
            return e;
        base->host.name = "defaults";
        c->power_defaults = base;
    }
    if (!hosts)
        return 0;
    c->power_hosts = arena_array(s->reader.a, struct config_power_host, hosts->n ? hosts->n : 1);
    for (const struct node *h = hosts->first; h; h = h->next, i++) {
        c->power_hosts[i] = *base;
        sub = section_at(s, arena_printf(s->reader.a, "power.hosts.%.64s.", h->key), h);
        if ((e = read_host(&sub, &keys, &c->power_hosts[i])) < 0 || (e = check_duplicates(&sub, c, i)) < 0)
            return e;
    }
    c->n_power_hosts = hosts->n;
    return 0;
}

/* ---- copies ---------------------------------------------------------------------------------- */

static struct config_power_host copy_host(const struct config_power_host *h, const struct schema *keys,
                                          struct arena *a)
{
    struct config_power_host copy = *h;

    copy.host.name = arena_strdup(a, h->host.name);
    for (size_t i = 0; i < keys->n; i++)
        field_copy(&keys->fields[i], h, &copy, a);
    return copy;
}

/* ---- for the power methods ------------------------------------------------------------------- */

/* The methods in the given order, or all: controllers, then a Wake-on-LAN packet, then the hypervisor.
 * Methods of the defaults that the host lacks are left out. */
static size_t sequence_of(const struct config_power_host *h,
                          enum power_method_kind sequence[POWER_METHOD_COUNT])
{
    static const enum power_method_kind all[] = {POWER_IPMI, POWER_REDFISH, POWER_WOL, POWER_HYPERVISOR};
    size_t n = 0;

    for (const char *const *w = h->methods; *w && n < POWER_METHOD_COUNT; w++) {
        enum power_method_kind kind = (enum power_method_kind)kind_of_word(*w);

        if (has_method(h, kind))
            sequence[n++] = kind;
    }
    for (size_t i = 0; !h->methods[0] && i < POWER_METHOD_COUNT; i++) {
        if (has_method(h, all[i]))
            sequence[n++] = all[i];
    }
    return n;
}

/* A key that has its default counts as one that is not given: a later version may have more keys. */
static uint64_t add_key_text(uint64_t before, const struct field *f, const void *host, struct arena *a)
{
    const char *text = field_text(f, host, a);

    if (!text || texts_same(text, f->fallback))
        return before;
    return fingerprint_add(fingerprint_add(fingerprint_add(before, f->name), "\n"),
                           arena_printf(a, "%s\n", text));
}

/* The store's numbers have a sign, and 0 is kept for "not known". */
static void fill_settings(struct power_host *h, struct arena *a)
{
    for (size_t m = 0; power_method_keys[m]; m++) {
        const struct schema *keys = &power_method_keys[m]->keys;
        uint64_t sum = FINGERPRINT_NONE;

        for (size_t i = 0; i < keys->n; i++)
            sum = add_key_text(sum, &keys->fields[i], h, a);
        h->settings[power_method_keys[m]->kind] = (sum & INT64_MAX) | 1;
    }
    h->settings[POWER_HYPERVISOR] = 1; /* with another source the hosts are others */
}

static uint64_t all_settings(const struct config_power_host *h, const struct schema *keys, struct arena *a)
{
    uint64_t sum = fingerprint_add(FINGERPRINT_NONE, config_power_text(h, 1, a));

    for (size_t i = 0; i < keys->n; i++) {
        const char *secret = field_secret(&keys->fields[i], h);

        sum = fingerprint_add(fingerprint_add(sum, "\n"), secret ? secret : "");
    }
    return sum | 1;
}

struct power_host *config_power(const struct config *c, const atomic_bool *stop, struct arena *a)
{
    struct power_host *list = arena_array(a, struct power_host, c->n_power_hosts ? c->n_power_hosts : 1);
    const struct schema keys = config_power_keys(a);

    for (size_t i = 0; i < c->n_power_hosts; i++) {
        enum power_method_kind *sequence = arena_array(a, enum power_method_kind, POWER_METHOD_COUNT);

        list[i] = copy_host(&c->power_hosts[i], &keys, a).host;
        list[i].n_sequence = sequence_of(&c->power_hosts[i], sequence);
        list[i].sequence = sequence;
        list[i].stop = stop;
        list[i].all_settings = all_settings(&c->power_hosts[i], &keys, a);
        fill_settings(&list[i], a);
    }
    return list;
}

struct power_curve config_watts(const struct config_power_host *h, struct arena *a)
{
    const struct schema keys = config_power_keys(a);

    return copy_host(h, &keys, a).watts;
}

/* ---- the changes of a reload ----------------------------------------------------------------- */

static void put_host(const struct config_power_host *h, const struct schema *keys, struct arena *a,
                     struct strbuf *out)
{
    bool any = false;

    strbuf_printf(out, "%s: {", h->host.name);
    for (size_t i = 0; i < keys->n; i++) {
        const struct field *key = &keys->fields[i];
        const char *text = field_text(key, h, a);

        if (!text)
            continue;
        strbuf_printf(out, "%s%s: %s", any ? ", " : "", key->name, text);
        any = true;
    }
    strbuf_puts(out, "}");
}

const char *config_power_text(const struct config_power_host *hosts, size_t n, struct arena *a)
{
    CLEANUP(strbuf_releasep) struct strbuf all = STRBUF_EMPTY;
    const struct schema keys = config_power_keys(a);

    if (n == 0)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        strbuf_puts(&all, i ? ", " : "{");
        put_host(&hosts[i], &keys, a, &all);
    }
    strbuf_puts(&all, "}");
    return arena_strdup(a, all.text);
}

static const struct config_power_host *find_host(const struct config *c, const char *name)
{
    for (size_t i = 0; i < c->n_power_hosts; i++) {
        if (strcmp(c->power_hosts[i].host.name, name) == 0)
            return &c->power_hosts[i];
    }
    return NULL;
}

static bool same_host(const struct config_power_host *x, const struct config_power_host *y, struct arena *a)
{
    return x && y && texts_same(config_power_text(x, 1, a), config_power_text(y, 1, a));
}

/* The hosts of one list that are different in the other list, or missing. */
static size_t count_changed(const struct config *c, const struct config *other, bool gone, struct arena *a,
                            struct strbuf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_power_hosts; i++) {
        const struct config_power_host *h = &c->power_hosts[i];
        const struct config_power_host *there = find_host(other, h->host.name);

        if (gone ? there != NULL : same_host(h, there, a))
            continue;
        if (n++ < CHANGED_SHOWN)
            strbuf_printf(out, "%s%s", out->len > 0 ? ", " : "", h->host.name);
    }
    return n;
}

void config_power_change_text(const struct config *old, const struct config *now, struct arena *a,
                              const char **ret_from, const char **ret_to)
{
    CLEANUP(strbuf_releasep) struct strbuf names = STRBUF_EMPTY;

    size_t n = count_changed(now, old, false, a, &names) + count_changed(old, now, true, a, &names);

    *ret_from = arena_printf(a, "%zu host%s", old->n_power_hosts, old->n_power_hosts == 1 ? "" : "s");
    *ret_to =
        arena_printf(a, "%zu host%s, changed: %s%s", now->n_power_hosts, now->n_power_hosts == 1 ? "" : "s",
                     names.len > 0 ? names.text : "their order", n > CHANGED_SHOWN ? ", ..." : "");
}

bool config_power_secrets_changed(const struct config *old, const struct config *now, struct arena *a)
{
    const struct schema keys = config_power_keys(a);

    for (size_t i = 0; i < now->n_power_hosts; i++) {
        const struct config_power_host *h = &now->power_hosts[i];
        const struct config_power_host *was = find_host(old, h->host.name);

        for (size_t k = 0; was && k < keys.n; k++) {
            if (!texts_same(field_secret(&keys.fields[k], was), field_secret(&keys.fields[k], h)))
                return true;
        }
    }
    return false;
}

void config_power_keep(const struct config *old, struct config *now, struct arena *a)
{
    const struct schema keys = config_power_keys(a);
    struct config_power_host *list =
        arena_array(a, struct config_power_host, old->n_power_hosts ? old->n_power_hosts : 1);

    for (size_t i = 0; i < old->n_power_hosts; i++)
        list[i] = copy_host(&old->power_hosts[i], &keys, a);
    now->power_hosts = list;
    now->n_power_hosts = old->n_power_hosts;
    if (old->power_defaults) {
        now->power_defaults = arena_new(a, struct config_power_host);
        *now->power_defaults = copy_host(old->power_defaults, &keys, a);
    } else {
        now->power_defaults = NULL;
    }
}
