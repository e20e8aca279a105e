/* keys.c: the tables of keys. */
#include "config/keys.h"

#include "config/section.h"
#include "config/sections.h"
#include "plugins/power_method_keys.h"
#include "plugins/source_kinds.h"
#include "schema/reader.h"

#include <assert.h>
#include <string.h>

#define WORDS_MOST 32 /* in a list */
#define AT(member) offsetof(struct config, member)
#define KEY(key, member, type, ...) FIELD_AT(key, struct config, member, type, __VA_ARGS__)
#define HOST_AT(member) offsetof(struct config_power_host, member)
#define HOST_KEY(key, member, type, ...) FIELD_AT(key, struct config_power_host, member, type, __VA_ARGS__)

/* Sections with their own reader, which runs after all other keys. */
static int read_later(const struct reader *r, const struct node *n, void *at)
{
    (void)at;
    return n->kind == NODE_MAP ? 0 : reader_refuse(r, n, "a section");
}

static const char *const mqtt_schemes[] = {"mqtts", "mqtt", NULL};

static const char *const proxlb_words[] = {
    [PROXLB_OFF] = "off", [PROXLB_PREFERRED] = "preferred", [PROXLB_MANDATORY] = "mandatory", NULL};

static const struct field service_keys[] = {
    KEY("cluster", cluster, FIELD_TEXT, .flags = FIELD_RESTART,
        .meaning = "the name of the cluster in all output; required"),
    KEY("state_dir", state_dir, FIELD_PATH, .fallback = "/var/lib/ballast", .flags = FIELD_RESTART,
        .meaning = "the folder of the store; created with mode 0700"),
    KEY("socket", socket, FIELD_PATH, .fallback = "/run/ballast/ballastd.sock", .flags = FIELD_RESTART,
        .meaning = "the socket for the command ballast; at most 107 bytes"),
    KEY("source.kind", source.kind, FIELD_CHOICE, .words = NULL, /* source_kinds[] */
        .flags = FIELD_RESTART, .meaning = "the kind of the source; required"),
    KEY("source.timeout_s", source.timeout_s, FIELD_COUNT, .min = 1, .max = 3600, .fallback = "60",
        .flags = FIELD_RESTART,
        .meaning = "seconds until one read of the inventory, or one request, counts as failed"),
    KEY("history.days", history_days, FIELD_INT, .min = 1, .max = 3650, .fallback = "30",
        .meaning = "days that actions and migrations are kept"),
    KEY("history.passes", history_passes, FIELD_INT, .min = 1, .max = 1000000, .fallback = "2000",
        .meaning = "number of passes that are kept, each with its snapshot"),
    KEY("history.passes_mb", history_passes_mb, FIELD_INT, .min = 1, .max = 1024 * 1024, .fallback = "1024",
        .flags = FIELD_RESTART,
        .meaning = "maximum compressed size of the passes in MiB; the oldest are deleted first"),
    KEY("history.store_mb", history_store_mb, FIELD_INT, .min = 16, .max = 16 * 1024 * 1024,
        .fallback = "4096", .flags = FIELD_RESTART,
        .meaning = "maximum size of the store in MiB; passes and figures over time are deleted first"),
    KEY("power.hosts", power_hosts, FIELD_OWN, .read = read_later,
        .meaning = "by host: its power methods (ipmi, redfish, wol)"),
    KEY("power.defaults", power_defaults, FIELD_OWN, .read = read_later,
        .meaning = "the same keys, for all hosts of power.hosts that do not say otherwise"),
    KEY("history.events", history_events, FIELD_INT, .min = 1000, .max = 10 * 1000 * 1000,
        .fallback = "100000", .meaning = "number of events that are kept; the oldest are deleted first"),
    KEY("mqtt.url", mqtt.url, FIELD_URL, .words = mqtt_schemes, .flags = FIELD_RESTART,
        .meaning = "the URL of the broker"),
    KEY("mqtt.username", mqtt.username, FIELD_TEXT, .flags = FIELD_RESTART,
        .meaning = "the user to log in as"),
    KEY("mqtt.password_file", mqtt.password_file, FIELD_SECRET, .secret = AT(mqtt.password),
        .flags = FIELD_RESTART,
        .meaning = "a file with the password on its only line; only the service should be able to read it"),
    KEY("mqtt.ca_file", mqtt.ca_file, FIELD_PATH, .flags = FIELD_RESTART | FIELD_READABLE,
        .meaning = "PEM certificates of the authorities to trust; default: the system's"),
    KEY("mqtt.cert_file", mqtt.cert_file, FIELD_PATH, .flags = FIELD_RESTART | FIELD_READABLE,
        .meaning = "the client certificate, PEM"),
    KEY("mqtt.key_file", mqtt.key_file, FIELD_PATH, .flags = FIELD_RESTART | FIELD_READABLE,
        .meaning = "the key of the client certificate, without a passphrase"),
    KEY("mqtt.tls_verify", mqtt.tls_verify, FIELD_BOOL, .fallback = "true", .flags = FIELD_RESTART,
        .meaning = "false accepts any certificate; each start logs a warning"),
    KEY("mqtt.client_id", mqtt.client_id, FIELD_TEXT, .flags = FIELD_RESTART,
        .meaning = "the client ID; default: made from the name of the store"),
    KEY("mqtt.topic", mqtt.topic, FIELD_TEXT, .fallback = "ballast", .flags = FIELD_RESTART,
        .meaning = "the beginning of all topics"),
    KEY("mqtt.home_assistant", mqtt.home_assistant, FIELD_TEXT, .flags = FIELD_RESTART,
        .meaning =
            "the prefix of Home Assistant's discovery, or true for homeassistant; default: no discovery"),
    KEY("mqtt.commands", mqtt.commands, FIELD_LIST, .max = WORDS_MOST, .flags = FIELD_KNOWN_WORDS,
        .check = config_mqtt_command_check,
        .meaning = "commands that are taken from the broker; default: none"),
    KEY("http.listen", http.listen, FIELD_TEXT, .flags = FIELD_RESTART,
        .meaning =
            "address and port of the API over HTTP, such as 127.0.0.1:8480 or [::]:8443; default: no API"),
    KEY("http.cert_file", http.cert_file, FIELD_PATH, .flags = FIELD_RESTART | FIELD_READABLE,
        .meaning =
            "the certificate of the API with those that lead to its authority, PEM; read again at a reload"),
    KEY("http.key_file", http.key_file, FIELD_PATH, .flags = FIELD_RESTART | FIELD_READABLE,
        .meaning = "the key of http.cert_file, without a passphrase; read again at a reload"),
    KEY("http.connections", http.connections, FIELD_INT, .min = 8, .max = 10000, .fallback = "1000",
        .flags = FIELD_RESTART, .meaning = "connections at a time, at most"),
    KEY("http.connections_per_address", http.connections_per_address, FIELD_INT, .min = 8, .max = 10000,
        .fallback = "600", .flags = FIELD_RESTART,
        .meaning = "connections from one address at a time, at most"),
    KEY("http.session_s", http.session_s, FIELD_INT, .min = 10, .max = 2592000, .fallback = "43200",
        .flags = FIELD_RESTART, .meaning = "seconds after which a browser signs in again, in use or not"),
    KEY("http.session_idle_s", http.session_idle_s, FIELD_INT, .min = 10, .max = 2592000, .fallback = "3600",
        .flags = FIELD_RESTART, .meaning = "seconds without a request, after which a browser signs in again"),
    KEY("alarms", alarms_text, FIELD_OWN, .read = section_hidden_text,
        .meaning = "by name: webhooks, mail servers and commands that alarms go to"),
    KEY("roles", roles_text, FIELD_OWN, .read = section_text,
        .meaning = "the roles of users and groups at the socket; a user not listed is an admin"),
    KEY("four_eyes.actions", four_eyes.actions, FIELD_LIST, .max = WORDS_MOST, .flags = FIELD_KNOWN_WORDS,
        .check = config_four_eyes_check,
        .meaning = "what begins only when two people have asked for it; default: nothing"),
    KEY("four_eyes.within_s", four_eyes.within_s, FIELD_INT, .min = 60, .max = 604800, .fallback = "3600",
        .meaning = "seconds that the request of the first of two people counts"),
    KEY("placement.lock_wait_s", lock_wait_s, FIELD_INT, .min = 1, .max = 3600, .fallback = "120",
        .meaning =
            "seconds that a request to start VMs waits for its decision, and for room that others hold"),
    KEY("placement.lock_hold_s", lock_hold_s, FIELD_INT, .min = 1, .max = 86400, .fallback = "600",
        .meaning = "seconds after which a decision of which nothing could be begun is void"),
    KEY("proxlb_tags", overlay.proxlb_tags, FIELD_WORD, .words = proxlb_words, .fallback = "preferred",
        .meaning = "tags of VMs that begin with plb_: not read, or read as preferred or as mandatory rules"),
    KEY("balance.windows", balance_windows, FIELD_LIST, .max = WORDS_MOST,
        .meaning =
            "when optional moves are carried out: calendar expressions with a duration; default: always"),
    KEY("rules", rules_text, FIELD_OWN, .read = section_text,
        .meaning = "by name: affinity, anti-affinity, and rules between VMs and hosts"),
    KEY("pools", pools_text, FIELD_OWN, .read = section_text,
        .meaning = "by name: reservation, limit, shares and VMs of resource pools"),
    KEY("groups", groups_text, FIELD_OWN, .read = section_text,
        .meaning = "by name: hosts that belong together, for filters"),
    KEY("units", units_text, FIELD_OWN, .read = section_hidden_text,
        .meaning = "by name: programs that pipelines ask about VMs and hosts"),
    KEY("pipelines", pipelines_text, FIELD_OWN, .read = section_text,
        .meaning = "by name: filters that choose the hosts of VMs"),
    KEY("ha", ha_text, FIELD_OWN, .read = section_text,
        .meaning = "capacity that is kept free for host failures, beside what the source keeps"),
    KEY("vms", vms_text, FIELD_OWN, .read = section_text, .meaning = "settings of VMs"),
    KEY("hosts", hosts_text, FIELD_OWN, .read = section_text, .meaning = "settings of hosts"),
    KEY("dpm.windows", dpm_windows, FIELD_LIST, .max = WORDS_MOST,
        .meaning = "when hosts may be put to standby: calendar expressions with a duration; default: always"),
    KEY("dpm.ready_by", dpm_ready_by, FIELD_LIST, .max = WORDS_MOST,
        .meaning = "when capacity must be back: calendar expressions"),
    KEY("dpm.prove_every", dpm_prove_every, FIELD_TEXT,
        .meaning = "a host is named as due for a proof this long after its newest wake; default: none is"),
    KEY("dpm.time_zone", dpm_time_zone, FIELD_TEXT,
        .meaning =
            "the time zone of expressions that name none, and of the dashboard; default: the system's"),
    KEY("dpm.ready_percent", dpm_ready_percent, FIELD_INT, .min = 1, .max = 100, .fallback = "100",
        .meaning = "percentage of the capacity managed by DPM that must be on at dpm.ready_by"),
};

#define N_SERVICE_KEYS (sizeof(service_keys) / sizeof(service_keys[0]))

static const struct field power_host_keys[] = {
    HOST_KEY("methods", methods, FIELD_LIST, .max = WORDS_MOST,
             .meaning = "the sequence in which its methods are tried"),
    HOST_KEY("timeout_s", host.timeout_s, FIELD_COUNT, .min = 1, .max = 300, .fallback = "20",
             .meaning = "seconds for one call of a method, including retries"),
    HOST_KEY("hard_off", host.hard_off, FIELD_BOOL, .fallback = "false",
             .meaning = "whether power may be cut if a soft shutdown has no effect"),
    HOST_KEY("watts", watts, FIELD_CURVE, .min = 0, .max = 1000000,
             .meaning =
                 "power draw in watts at equally spaced loads from idle to full, for hosts without a meter"),
    HOST_KEY("standby_w", standby_w, FIELD_NUMBER, .min = 0, .max = 1000000,
             .meaning = "power draw in standby, in watts"),
};

const struct source_kind *config_source_kind(const char *word)
{
    for (size_t i = 0; source_kinds[i]; i++) {
        if (strcmp(source_kinds[i]->kind, word) == 0)
            return source_kinds[i];
    }
    return NULL;
}

size_t config_source_settings_at(const struct source_kind *kind)
{
    const size_t unit = alignof(max_align_t);
    size_t at = 0;

    for (size_t i = 0; source_kinds[i] != kind; i++)
        at += (source_kinds[i]->settings_size + unit - 1) / unit * unit;
    assert(at + kind->settings_size <= CONFIG_SOURCE_SETTINGS_MAX);
    return at;
}

const char *const *config_source_words(struct arena *a)
{
    size_t n = 0;

    while (source_kinds[n])
        n++;
    const char **words = arena_array(a, const char *, n + 1);

    for (size_t i = 0; i < n; i++)
        words[i] = source_kinds[i]->kind;
    return words;
}

struct key_list {
    struct field *items;
    size_t n, cap;
};

static struct field *add_key(struct key_list *l, const struct field *key, struct arena *a)
{
    l->items = arena_grow(a, l->items, l->n, &l->cap, sizeof *l->items);
    l->items[l->n] = *key;
    return &l->items[l->n++];
}

static bool has_key(const struct key_list *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->items[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Moves the key's offsets to the struct that contains the key's own. */
static void shift(struct field *key, size_t at)
{
    key->offset += at;
    key->secret += at; /* unused if the key is no secret */
}

static void add_source_keys(struct key_list *l, const struct schema *keys, size_t at, struct arena *a)
{
    for (size_t i = 0; i < keys->n; i++) {
        struct field key = keys->fields[i];

        key.name = arena_printf(a, "source.%s", keys->fields[i].name);
        shift(&key, at);
        key.flags = (key.flags & (FIELD_READABLE | FIELD_REREAD)) | FIELD_RESTART;
        if (!has_key(l, key.name))
            (void)add_key(l, &key, a);
    }
}

static void add_kind(struct key_list *l, const struct source_kind *kind, struct arena *a)
{
    add_source_keys(l, &kind->keys, AT(source), a);
    add_source_keys(l, &kind->settings, AT(source_settings) + config_source_settings_at(kind), a);
}

/* Keys of the chosen kind first: equal names of other kinds are left out. */
static void add_kinds(struct key_list *l, const struct source_kind *chosen, struct arena *a)
{
    if (chosen)
        add_kind(l, chosen, a);
    for (size_t i = 0; source_kinds[i]; i++)
        add_kind(l, source_kinds[i], a);
}

const struct field *config_keys(const char *kind, struct arena *a, size_t *ret_n)
{
    struct key_list l = {0};

    for (size_t i = 0; i < N_SERVICE_KEYS; i++) {
        struct field *key = add_key(&l, &service_keys[i], a);

        if (key->offset == AT(source.kind))
            key->words = config_source_words(a);
        if (service_keys[i].offset == AT(source.timeout_s))
            add_kinds(&l, kind ? config_source_kind(kind) : NULL, a);
    }
    for (size_t i = 0; i < policy_settings.n; i++) {
        struct field *key = add_key(&l, &policy_settings.fields[i], a);

        shift(key, AT(policy));
        key->flags &= ~FIELD_NULLABLE; /* a key without a value is a mistake here */
    }
    *ret_n = l.n;
    return l.items;
}

struct schema config_power_keys(struct arena *a)
{
    struct key_list l = {0};

    for (size_t i = 0; i < sizeof power_host_keys / sizeof *power_host_keys; i++)
        (void)add_key(&l, &power_host_keys[i], a);
    for (size_t m = 0; power_method_keys[m]; m++) {
        for (size_t i = 0; i < power_method_keys[m]->keys.n; i++) {
            struct field *key = add_key(&l, &power_method_keys[m]->keys.fields[i], a);

            shift(key, HOST_AT(host));
            key->flags &= ~FIELD_REQUIRED; /* only if the method's section is given */
        }
    }
    return (struct schema){.what = "", .fields = l.items, .n = l.n};
}

struct schema config_all_keys(struct arena *a)
{
    const struct schema power = config_power_keys(a);
    struct key_list l = {0};

    l.items = (struct field *)config_keys(NULL, a, &l.n);
    l.cap = l.n;
    for (size_t i = 0; i < power.n; i++)
        (void)add_key(&l, &power.fields[i], a);
    for (size_t i = 0; i < config_alarm_keys.n; i++)
        (void)add_key(&l, &config_alarm_keys.fields[i], a);
    return (struct schema){.what = "", .fields = l.items, .n = l.n};
}
