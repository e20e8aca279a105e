/* keys.c: the configuration keys of KVM hosts (`source: kind: libvirt`). */
#include "collectors/libvirt/libvirt_settings.h"

#include "base/remote_address.h"
#include "net/libvirt/controls.h"
#include "net/libvirt/migration_settings.h"

#include <stdio.h>
#include <string.h>

#define URI_MAX 1024
#define MIGRATION_URI "tcp://ADDRESS or tcp://ADDRESS:PORT"

static bool begins_with_one_of(const char *text, const char *const *list)
{
    for (; *list; list++) {
        if (strncmp(text, *list, strlen(*list)) == 0)
            return true;
    }
    return false;
}

/* libvirt knows others that name a program: `command` is run in place of ssh, for a peer_uri by root at a
 * host; `netcat` at the other end; `name` is a further URI there. */
static bool is_harmless(const char *parameter)
{
    static const char *const known[] = {"authfile=/",    "keyfile=/",  "known_hosts=/", "known_hosts_verify=",
                                        "mode=",         "no_sanity=", "no_tty=",       "no_verify=",
                                        "pkipath=/",     "proxy=",     "socket=/",      "sshauth=",
                                        "tls_priority=", NULL};

    if (strncmp(parameter, "socket=", strlen("socket=")) == 0 && strchr(parameter, '%'))
        return false; /* it is a word of the other end's shell */
    return begins_with_one_of(parameter, known) && remote_address_is_plain_word(parameter, "=/%._-:,+@~!");
}

/* DRIVER+TRANSPORT://...; the driver "test" is a host that libvirt makes up, for trials. */
static const char *check_uri(const char *uri)
{
    static const char *const begins[] = {"qemu+tls://",  "qemu+ssh://", "qemu+unix://",
                                         "qemu+tcp://",  "test+tls://", "test+ssh://",
                                         "test+unix://", "test+tcp://", NULL};
    struct remote_address unused;
    char text[URI_MAX], *rest = text;

    if (!begins_with_one_of(uri, begins) || snprintf(text, sizeof text, "%s", uri) >= URI_MAX)
        return "qemu+tls://HOST/system, or qemu+ssh, qemu+unix or qemu+tcp in place of qemu+tls";
    char *address = strstr(strsep(&rest, "?"), "://") + strlen("://"), *path = address;

    address = strsep(&path, "/");
    if ((address[0] && remote_address_parse(address, &unused) < 0) ||
        (path && path[0] && !remote_address_is_plain_word(path, "/._-")))
        return "HOST, HOST:PORT or [ADDRESS]:PORT in it, USER@ before it, and a path of letters and digits";
    while (rest) {
        if (!is_harmless(strsep(&rest, "&")))
            return "no parameters but authfile, keyfile, known_hosts, pkipath and socket, with paths from "
                   "/, and known_hosts_verify, mode, no_sanity, no_tty, no_verify, proxy, sshauth, "
                   "tls_priority";
    }
    return NULL;
}

static const char *check_migration_uri(const char *uri)
{
    struct remote_address at;
    char text[URI_MAX], *path = text;

    if (strncmp(uri, "tcp://", strlen("tcp://")) != 0 ||
        snprintf(text, sizeof text, "%s", uri + strlen("tcp://")) >= URI_MAX)
        return MIGRATION_URI;
    const char *address = strsep(&path, "/");
    bool good = (!path || !path[0]) && remote_address_parse(address, &at) == 0 && !at.user[0];

    return good ? NULL : MIGRATION_URI;
}

static const struct field host_keys[] = {
    FIELD_OF(struct libvirt_host_settings, uri, FIELD_TEXT, .check = check_uri, .flags = FIELD_REQUIRED,
             .meaning =
                 "the URI of the host's libvirt: qemu+tls://HOST/system, qemu+ssh, qemu+unix or qemu+tcp"),
    FIELD_OF(struct libvirt_host_settings, peer_uri, FIELD_TEXT, .check = check_uri,
             .meaning = "the URI under which the other hosts reach its libvirt, if not the same"),
    FIELD_OF(struct libvirt_host_settings, migration_uri, FIELD_TEXT, .check = check_migration_uri,
             .meaning = "where other hosts send the memory of VMs to: tcp://ADDRESS"),
    FIELD_OF(struct libvirt_host_settings, cpu_mhz, FIELD_NUMBER, .min = 1, .max = 1e9,
             .meaning = "MHz of all its cores together, instead of what the host says"),
    FIELD_OF(struct libvirt_host_settings, mem_mb, FIELD_NUMBER, .min = 1, .max = 1e9,
             .meaning = "MiB of its memory, instead of what the host says"),
};

static const struct schema host_schema = {"host", host_keys, sizeof host_keys / sizeof *host_keys};

static const char *const mode_words[] = {
    [LIBVIRT_MIGRATION_P2P] = "p2p", [LIBVIRT_MIGRATION_MANAGED] = "managed", NULL};

static const char *const copy_words[] = {
    [LIBVIRT_COPY_NO] = "no", [LIBVIRT_COPY_FULL] = "full", [LIBVIRT_COPY_INCREMENTAL] = "incremental", NULL};

/* How VMs are migrated: below `migration`, for all of them, with a default, and in an entry of `migrations`,
 * for some. X(member, type, default, what else the field has) */
#define MIGRATION_KEYS(X)                                                                                    \
    X(mode, FIELD_WORD, "p2p", .words = mode_words,                                                          \
      .meaning = "p2p: the source's libvirt drives a migration, also when this service ends; managed: this " \
                 "service does, and libvirt cancels it with the service"),                                   \
        X(tls, FIELD_BOOL, "false", .meaning = "memory is sent encrypted, with the certificates of QEMU"),   \
        X(auto_converge, FIELD_BOOL, "false",                                                                \
          .meaning = "a VM that writes faster than can be copied is slowed down"),                           \
        X(post_copy, FIELD_BOOL, "false",                                                                    \
          .meaning = "after timeout_s the VM goes on at the destination, and fetches what is missing"),      \
        X(copy_storage, FIELD_WORD, "no", .words = copy_words,                                               \
          .meaning =                                                                                         \
              "whether disks that are not on shared storage are copied: no, their VM stays; full, with all " \
              "they are based on; incremental, what they are based on is at the destination already"),       \
        X(bandwidth_mbs, FIELD_COUNT, "0", .max = 1000000,                                                   \
          .meaning = "MiB/s that a migration may use; 0: no limit"),                                         \
        X(connections, FIELD_COUNT, "1", .min = 1, .max = 64,                                                \
          .meaning = "connections that send memory side by side"),                                           \
        X(timeout_s, FIELD_COUNT, "0", .max = 604800,                                                        \
          .meaning =                                                                                         \
              "seconds of copying after which a migration is cancelled, or post-copy begins; 0: none")

#define OF_SOME(member, kind, of_all, ...)                                                                   \
    {                                                                                                        \
        .name = #member, .type = kind, .offset = offsetof(struct libvirt_migration_entry, is.member),        \
        .given = offsetof(struct libvirt_migration_entry, member##_given), __VA_ARGS__                       \
    }

#define OF_ALL(member, kind, of_all, ...)                                                                    \
    {                                                                                                        \
        .name = "migration." #member, .type = kind,                                                          \
        .offset = offsetof(struct libvirt_settings, migration.member), .fallback = of_all, __VA_ARGS__       \
    }

static const struct field migration_keys[] = {
    FIELD_OF(struct libvirt_migration_entry, vms, FIELD_LIST, .max = 1000, .flags = FIELD_REQUIRED,
             .meaning = "patterns of names or UUIDs of VMs"),
    MIGRATION_KEYS(OF_SOME),
};

static const struct schema migration_schema = {"migration", migration_keys,
                                               sizeof migration_keys / sizeof *migration_keys};

static const struct field keys[] = {
    SOURCE_KEY(username, FIELD_TEXT, .meaning = "the user for hosts that ask for one (SASL)"),
    SOURCE_PASSWORD_FILE(0),
    SOURCE_CLUSTER("the name of the cluster"),
};

static const char *const cpu_controls_words[] = {[LIBVIRT_CONTROLS_LIVE] = "live",
                                                 [LIBVIRT_CONTROLS_PERSISTENT] = "persistent",
                                                 [LIBVIRT_CONTROLS_OFF] = "off",
                                                 NULL};

static const struct field settings[] = {
    FIELD_OF(struct libvirt_settings, hosts, FIELD_OBJECTS, .inner = &host_schema,
             .size = sizeof(struct libvirt_host_settings), .flags = FIELD_REQUIRED,
             .meaning = "a section with the hosts: NAME: {uri: URI}"),
    FIELD_OF(struct libvirt_settings, shared_paths, FIELD_LIST, .max = 32,
             .meaning = "folders with disks of VMs that all hosts have in common"),
    FIELD_OF(struct libvirt_settings, host_timeout_s, FIELD_COUNT, .min = 1, .max = 600, .fallback = "10",
             .meaning = "seconds until a host that does not answer counts as disconnected"),
    FIELD_OF(
        struct libvirt_settings, cpu_controls, FIELD_WORD, .words = cpu_controls_words, .fallback = "live",
        .meaning = "where pools and vms become weights and limits of CPU: live, in running VMs; "
                   "persistent, in their definitions, too; off, nowhere, and VMs get back what they had"),
    MIGRATION_KEYS(OF_ALL),
    FIELD_OF(struct libvirt_settings, migrations, FIELD_OBJECTS, .inner = &migration_schema,
             .size = sizeof(struct libvirt_migration_entry),
             .meaning = "what some VMs have instead of migration: NAME: {vms: [PATTERN], ...}"),
};

const struct source_kind libvirt_source = {
    .kind = "libvirt",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
    .settings = {"source", settings, sizeof settings / sizeof *settings},
    .settings_size = sizeof(struct libvirt_settings),
    .check = libvirt_migration_check,
};
