/* keys.c: the configuration keys of a Proxmox VE cluster (`source: kind: proxmox`). */
#include "collectors/proxmox/proxmox.h"

#include "net/proxmox/settings.h"

#include <string.h>

#define DIGEST_DIGITS 64

static const char *const url_schemes[] = {"https", NULL};

static const char *check_username(const char *name)
{
    const char *at = strchr(name, '@');
    const char *token = at ? strchr(at, '!') : NULL;

    return at && at > name && at[1] && (!token || (token > at + 1 && token[1]))
               ? NULL
               : "USER@REALM or USER@REALM!TOKEN, such as ballast@pve!ballast";
}

static const char *check_url(const char *url)
{
    return strncmp(url, "https://", strlen("https://")) == 0 && url[strlen("https://")] ? NULL
                                                                                        : "https://HOST:8006";
}

static const char *check_fingerprint(const char *text)
{
    size_t digits = 0;

    for (const char *c = text; *c; c++) {
        if (strchr("0123456789abcdefABCDEF", *c))
            digits++;
        else if (*c != ':' || digits % 2 != 0 || digits == 0)
            digits = DIGEST_DIGITS + 1;
    }
    return digits == DIGEST_DIGITS ? NULL : "the SHA-256 fingerprint of a certificate, 64 hexadecimal digits";
}

static const char *check_storage(const char *text)
{
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    return text[0] && strspn(text, allowed) == strlen(text) ? NULL
                                                            : "the name of a storage, such as local-lvm";
}

static const struct field keys[] = {
    SOURCE_URL(url_schemes),
    SOURCE_KEY(username, FIELD_TEXT, .check = check_username, .flags = FIELD_REQUIRED,
               .meaning = "the user to log in as"),
    SOURCE_PASSWORD_FILE(FIELD_REQUIRED | FIELD_REREAD),
    SOURCE_CA_FILE,
    SOURCE_CLUSTER("the name of the cluster"),
};

static const struct field settings[] = {
    FIELD_OF(struct proxmox_settings, other_urls, FIELD_LIST, .max = 63, .check = check_url,
             .meaning = "the URLs of other nodes of the cluster, asked in turn where one does not answer"),
    FIELD_OF(struct proxmox_settings, fingerprints, FIELD_LIST, .max = 256, .check = check_fingerprint,
             .meaning = "SHA-256 fingerprints of the nodes' certificates, instead of ca_file"),
    FIELD_OF(struct proxmox_settings, restart_containers, FIELD_BOOL, .fallback = "false",
             .meaning = "a container that must leave its node is stopped, moved and started"),
    FIELD_OF(struct proxmox_settings, local_disks, FIELD_BOOL, .fallback = "false",
             .meaning = "virtual machines are migrated with disks that are not shared"),
    FIELD_OF(struct proxmox_settings, target_storage, FIELD_TEXT, .check = check_storage,
             .meaning = "the storage that local disks are migrated to; default: one of the same name"),
    FIELD_OF(struct proxmox_settings, bandwidth_mbs, FIELD_COUNT, .max = 1000000, .fallback = "0",
             .meaning = "MiB/s that one migration may use; 0: as the datacenter has it"),
};

const struct source_kind proxmox_source = {
    .kind = "proxmox",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
    .settings = {"source", settings, sizeof settings / sizeof *settings},
    .settings_size = sizeof(struct proxmox_settings),
};
