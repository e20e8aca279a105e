#include "config/config.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <string.h>

/* What is at the key's place, whatever its type. */
static const void *value_at(const struct config *c, const struct config_key *key)
{
    return (const char *)c + key->offset;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *words_text(const char *const *words, struct arena *a)
{
    const char *all = "";

    for (size_t i = 0; words[i]; i++)
        all = arena_printf(a, "%s%s%s", all, i ? ", " : "", words[i]);
    return arena_printf(a, "[%s]", all);
}

static const char *or_none(const char *text)
{
    return text ? text : "~";
}

static const char *power_hosts_text(const struct config *c, struct arena *a)
{
    if (c->n_power_hosts == 0)
        return NULL;
    CLEANUP(strbuf_releasep) struct strbuf all = {0};

    strbuf_init(&all, STRBUF_NO_LIMIT);
    for (size_t i = 0; i < c->n_power_hosts; i++) {
        const struct config_power_host *h = &c->power_hosts[i];

        strbuf_printf(&all,
                      "%s%s: {ipmi: {address: %s, username: %s, password_file: %s, cipher_suite: %lld, ",
                      i ? ", " : "{", h->name, or_none(h->ipmi.address), or_none(h->ipmi.username),
                      or_none(h->ipmi.password_file), (long long)h->ipmi.cipher_suite);
        strbuf_printf(&all, "workarounds: %s}, wol: {mac: %s}}", words_text(h->ipmi.workarounds, a),
                      or_none(h->wol_mac));
    }
    strbuf_puts(&all, "}");
    return arena_strdup(a, all.text);
}

const char *config_get(const struct config *c, const struct config_key *key, struct arena *a)
{
    switch (key->type) {
    case CONFIG_TEXT:
    case CONFIG_PATH:
    case CONFIG_URL:
    case CONFIG_WORD:
    case CONFIG_MAC:
        return *(const char *const *)value_at(c, key);
    case CONFIG_BOOL:
        return *(const bool *)value_at(c, key) ? "true" : "false";
    case CONFIG_INT:
        return arena_printf(a, "%lld", (long long)*(const int64_t *)value_at(c, key));
    case CONFIG_WORDS: {
        const char *const *words = *(const char *const *const *)value_at(c, key);
        return words[0] ? words_text(words, a) : NULL;
    }
    case CONFIG_POWER_HOSTS:
        return power_hosts_text(c, a);
    case CONFIG_POLICY:
        return policy_get(&c->policy, key->setting, a);
    }
    return NULL;
}

/* Only what stands in the files; that the file is another one shows in its path. */
static bool secret_changed(const struct config *old, const struct config *now, const struct config_key *key)
{
    if (strcmp(key->path, "source.password_file") == 0)
        return !same_text(old->source.password, now->source.password);
    if (key->type != CONFIG_POWER_HOSTS || old->n_power_hosts != now->n_power_hosts)
        return false;
    for (size_t i = 0; i < old->n_power_hosts; i++) {
        if (!same_text(old->power_hosts[i].ipmi.password, now->power_hosts[i].ipmi.password))
            return true;
    }
    return false;
}

size_t config_changes(const struct config *old, const struct config *now, struct arena *a,
                      struct config_change **ret)
{
    size_t n_keys, n = 0;
    const struct config_key *keys = config_keys(a, &n_keys);
    struct config_change *changes = arena_array(a, struct config_change, n_keys);

    for (size_t i = 0; i < n_keys; i++) {
        const char *from = config_get(old, &keys[i], a), *to = config_get(now, &keys[i], a);
        bool same = same_text(from, to);

        if (!same || secret_changed(old, now, &keys[i]))
            changes[n++] = (struct config_change){.key = &keys[i], .from = from, .to = to, .secret = same};
    }
    *ret = changes;
    return n;
}

/* Text, numbers and booleans are all that a key which needs a restart can be; a test proves it. */
static void keep(const struct config *old, struct config *now, const struct config_key *key, struct arena *a)
{
    void *at = (char *)now + key->offset;

    if (key->type == CONFIG_BOOL)
        *(bool *)at = *(const bool *)value_at(old, key);
    else if (key->type == CONFIG_INT)
        *(int64_t *)at = *(const int64_t *)value_at(old, key);
    else
        *(const char **)at = arena_strdup(a, *(const char *const *)value_at(old, key));
}

void config_keep_fixed(const struct config *old, struct config *now, struct arena *a)
{
    size_t n_keys;
    const struct config_key *keys = config_keys(a, &n_keys);

    for (size_t i = 0; i < n_keys; i++) {
        if (keys[i].restart)
            keep(old, now, &keys[i], a);
    }
    now->source.password = arena_strdup(a, old->source.password);
}
