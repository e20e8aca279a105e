/* setup_kinds.c: the table, and the syntax of its values. */
#include "cli/setup_kinds.h"

#include <string.h>

#define BLANKS " \t,"

const char *setup_kinds_quote(const char *typed, struct arena *a)
{
    char *quoted = arena_array(a, char, 2 * strlen(typed) + 3), *at = quoted;

    *at++ = '\'';
    for (; *typed; *at++ = *typed++) {
        if (*typed == '\'')
            *at++ = '\'';
    }
    *at = '\'';
    return quoted;
}

/* The next of the words; NULL: there is none. */
static const char *next_word(const char **text, struct arena *a)
{
    const char *word = *text + strspn(*text, BLANKS);

    *text = word + strcspn(word, BLANKS);
    return *text > word ? arena_strndup(a, word, (size_t)(*text - word)) : NULL;
}

static const char *list(const char *typed, struct arena *a)
{
    const char *all = "", *word;

    while ((word = next_word(&typed, a)) != NULL)
        all = arena_printf(a, "%s%s%s", all, *all ? ", " : "", setup_kinds_quote(word, a));
    return arena_printf(a, "[%s]", all);
}

/* URIs of hosts. The name of each is its own without the domain; of an address, or where there is none, a
 * number. */
static const char *hosts(const char *typed, struct arena *a)
{
    const char *all = "", *uri;

    for (int i = 1; (uri = next_word(&typed, a)) != NULL;) {
        const char *host = strstr(uri, "://") ? strstr(uri, "://") + strlen("://") : uri;
        const char *user = memchr(host, '@', strcspn(host, "/?"));

        host = user ? user + 1 : host;
        const char *name = arena_strndup(a, host, strcspn(host, ".:/?"));

        while (!*name || strchr("0123456789[", *name) || strstr(all, arena_printf(a, "'%s': ", name)))
            name = arena_printf(a, "host%d", i++);
        all = arena_printf(a, "%s%s'%s': {uri: %s}", all, *all ? ", " : "", name, setup_kinds_quote(uri, a));
    }
    return arena_printf(a, "{%s}", all);
}

#define OVER_HTTPS(address, user)                                                                            \
    {"source.url", address}, {"source.ca_file", .flags = SETUP_LATER | SETUP_WITH_FORMER},                   \
        {"source.username", user}, {"source.password_file", .flags = SETUP_WITH_FORMER},                     \
    {                                                                                                        \
        "source.cluster", .flags = SETUP_LATER                                                               \
    }

const struct setup_question setup_name = {"cluster", "prod-a", .flags = SETUP_LATER};
const struct setup_question setup_source_kind = {"source.kind", "vsphere, libvirt or proxmox"};

const struct setup_kind setup_kinds[] = {
    {"vsphere", {OVER_HTTPS("https://vcenter.example/sdk", "ballast@vsphere.local")}},
    {"libvirt",
     {{"source.hosts", "qemu+tls://hv1.example/system qemu+tls://hv2.example/system", .value = hosts},
      {"source.shared_paths", "/mnt/images", SETUP_OPTIONAL, list},
      {"source.username", "ballast", SETUP_LATER},
      {"source.password_file", .flags = SETUP_LATER | SETUP_WITH_FORMER}}},
    {"proxmox", {OVER_HTTPS("https://pve1.example:8006", "ballast@pve!ballast")}},
    {NULL},
};
