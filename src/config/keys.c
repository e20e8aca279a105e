#include "config/keys.h"

#include <string.h>

#define AT(member) offsetof(struct config, member)
#define HOST_AT(member) offsetof(struct config_power_host, member)

const struct source_kind source_kinds[] = {
    {"vsphere", true, USES_URL | USES_LOGIN, USES_URL | USES_LOGIN | USES_TLS | USES_CLUSTER | USES_STATS},
    {"sim", true, 0, USES_FILE | USES_SPEED | USES_CLUSTER},
    {"file", true, USES_FILE, USES_FILE},
    {"libvirt", false, 0, 0},
    {"proxmox", false, 0, 0},
    {"ovirt", false, 0, 0},
    {NULL, false, 0, 0},
};

static const char *const kind_words[] = {"vsphere", "sim", "file", "libvirt", "proxmox", "ovirt", NULL};
static const char *const stats_words[] = {"auto", "counters", "quick", NULL};
static const char *const source_schemes[] = {"https", "http", NULL};
static const char *const mqtt_schemes[] = {"mqtts", "mqtt", NULL};

static const struct config_key service_keys[] = {
    {.path = "cluster",
     .type = CONFIG_TEXT,
     .offset = AT(cluster),
     .restart = true,
     .meaning = "the cluster's name in everything that Ballast says; required"},
    {.path = "state_dir",
     .type = CONFIG_PATH,
     .offset = AT(state_dir),
     .fallback = "/var/lib/ballast",
     .restart = true,
     .meaning = "where the store is kept; created with mode 0700"},
    {.path = "socket",
     .type = CONFIG_PATH,
     .offset = AT(socket),
     .fallback = "/run/ballast/ballastd.sock",
     .restart = true,
     .meaning = "the command's way in; at most 107 bytes"},
    {.path = "source.kind",
     .type = CONFIG_WORD,
     .offset = AT(source.kind),
     .words = kind_words,
     .restart = true,
     .meaning = "what the cluster is read from and acted on through; required"},
    {.path = "source.url",
     .type = CONFIG_URL,
     .offset = AT(source.url),
     .words = source_schemes,
     .restart = true,
     .meaning = "where its API is"},
    {.path = "source.username",
     .type = CONFIG_TEXT,
     .offset = AT(source.username),
     .restart = true,
     .meaning = "whom to log in as"},
    {.path = "source.password_file",
     .type = CONFIG_PATH,
     .offset = AT(source.password_file),
     .restart = true,
     .meaning = "a file with the password on its only line; should be readable by the service alone"},
    {.path = "source.ca_file",
     .type = CONFIG_PATH,
     .offset = AT(source.ca_file),
     .restart = true,
     .meaning = "PEM certificates that the peer's must chain to; the system's if not given"},
    {.path = "source.tls_verify",
     .type = CONFIG_BOOL,
     .offset = AT(source.tls_verify),
     .fallback = "true",
     .restart = true,
     .meaning = "false: anybody may pose as the source; said loudly at every start"},
    {.path = "source.cluster",
     .type = CONFIG_TEXT,
     .offset = AT(source.cluster),
     .restart = true,
     .meaning = "the cluster's name at the source"},
    {.path = "source.file",
     .type = CONFIG_PATH,
     .offset = AT(source.file),
     .restart = true,
     .meaning =
         "kind file: the snapshot to read; kind sim: the cluster to pretend, a built-in one if not given"},
    {.path = "source.timeout_s",
     .type = CONFIG_INT,
     .offset = AT(source.timeout_s),
     .min = 1,
     .max = 3600,
     .fallback = "60",
     .restart = true,
     .meaning = "how long one inventory or one request may take, in seconds"},
    {.path = "source.stats",
     .type = CONFIG_WORD,
     .offset = AT(source.stats),
     .words = stats_words,
     .fallback = "auto",
     .restart = true,
     .meaning = "vsphere: demand from performance counters, from quick stats, or from what there is"},
    {.path = "source.speed",
     .type = CONFIG_INT,
     .offset = AT(source.speed),
     .min = 1,
     .max = 10000,
     .fallback = "1",
     .restart = true,
     .meaning = "sim: how many times faster than real migrations and boots are"},
    {.path = "history.days",
     .type = CONFIG_INT,
     .offset = AT(history_days),
     .min = 1,
     .max = 3650,
     .fallback = "30",
     .meaning = "how long actions and migrations are kept, in days"},
    {.path = "history.passes",
     .type = CONFIG_INT,
     .offset = AT(history_passes),
     .min = 1,
     .max = 1000000,
     .fallback = "2000",
     .meaning = "how many passes are kept, each with all that is needed to run it again"},
    {.path = "history.mb",
     .type = CONFIG_INT,
     .offset = AT(history_mb),
     .min = 1,
     .max = 1024 * 1024,
     .fallback = "1024",
     .restart = true,
     .meaning = "how much room those may take, compressed, in MiB; the oldest go first"},
    {.path = "power.hosts",
     .type = CONFIG_POWER_HOSTS,
     .offset = AT(power_hosts),
     .idle = true,
     .meaning = "by host: how it is woken and put to sleep from outside (ipmi, wol)"},
    {.path = "mqtt.url",
     .type = CONFIG_URL,
     .offset = AT(mqtt_url),
     .words = mqtt_schemes,
     .idle = true,
     .meaning = "the broker that events go to"},
};

#define N_SERVICE_KEYS (sizeof(service_keys) / sizeof(service_keys[0]))

const struct config_key power_host_keys[] = {
    {.path = "ipmi.address",
     .type = CONFIG_TEXT,
     .offset = HOST_AT(ipmi.address),
     .meaning = "name or address of the host's BMC"},
    {.path = "ipmi.username", .type = CONFIG_TEXT, .offset = HOST_AT(ipmi.username), .meaning = "its user"},
    {.path = "ipmi.password_file",
     .type = CONFIG_PATH,
     .offset = HOST_AT(ipmi.password_file),
     .meaning = "a file with the password on its only line"},
    {.path = "ipmi.cipher_suite",
     .type = CONFIG_INT,
     .offset = HOST_AT(ipmi.cipher_suite),
     .min = 0,
     .max = 17,
     .fallback = "3",
     .meaning = "the cipher suite's id"},
    {.path = "ipmi.workarounds",
     .type = CONFIG_WORDS,
     .offset = HOST_AT(ipmi.workarounds),
     .meaning = "workarounds for BMCs with bugs, by FreeIPMI's names"},
    {.path = "wol.mac",
     .type = CONFIG_MAC,
     .offset = HOST_AT(wol_mac),
     .meaning = "the address that wakes it"},
};

const size_t n_power_host_keys = sizeof(power_host_keys) / sizeof(power_host_keys[0]);

const struct config_key *config_keys(struct arena *a, size_t *ret_n)
{
    size_t n_settings;
    const struct setting *settings = policy_settings(&n_settings);
    struct config_key *keys = arena_array(a, struct config_key, N_SERVICE_KEYS + n_settings);

    memcpy(keys, service_keys, sizeof(service_keys));
    for (size_t i = 0; i < n_settings; i++) {
        keys[N_SERVICE_KEYS + i] = (struct config_key){
            .path = settings[i].key,
            .type = CONFIG_POLICY,
            .fallback = settings[i].fallback,
            .meaning = settings[i].meaning,
            .setting = &settings[i],
        };
    }
    *ret_n = N_SERVICE_KEYS + n_settings;
    return keys;
}
