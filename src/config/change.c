#include "config/config.h"

#include "config/hosts.h"

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
    case CONFIG_NUMBER:
        return config_number_text(*(const double *)value_at(c, key), a);
    case CONFIG_WATTS:
        return config_watts_text(value_at(c, key), a);
    case CONFIG_WORDS: {
        const char *const *words = *(const char *const *const *)value_at(c, key);
        return words[0] ? config_words_text(words, a) : NULL;
    }
    case CONFIG_POWER_HOSTS:
        return power_hosts_text(c->power_hosts, c->n_power_hosts, a);
    case CONFIG_POWER_DEFAULTS:
        return power_hosts_text(c->power_defaults, c->power_defaults ? 1 : 0, a);
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
    if (strcmp(key->path, "mqtt.password_file") == 0)
        return !same_text(old->mqtt.password, now->mqtt.password);
    return key->type == CONFIG_POWER_HOSTS && power_secrets_changed(old, now);
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

        if (!same && keys[i].type == CONFIG_POWER_HOSTS)
            power_change_text(old, now, a, &from, &to);
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

bool config_is_of_power(const struct config_change *change)
{
    return change->key->type == CONFIG_POWER_HOSTS || change->key->type == CONFIG_POWER_DEFAULTS;
}

bool config_power_changes(const struct config_change *changes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (config_is_of_power(&changes[i]))
            return true;
    }
    return false;
}

void config_keep_fixed(const struct config *old, struct config *now, bool power, struct arena *a)
{
    size_t n_keys;
    const struct config_key *keys = config_keys(a, &n_keys);

    for (size_t i = 0; i < n_keys; i++) {
        if (keys[i].restart)
            keep(old, now, &keys[i], a);
    }
    if (power)
        power_keep(old, now, a);
    now->source.password = arena_strdup(a, old->source.password);
    now->mqtt.password = arena_strdup(a, old->mqtt.password);
    now->mqtt.host = arena_strdup(a, old->mqtt.host);
    now->mqtt.port = old->mqtt.port;
    now->mqtt.tls = old->mqtt.tls;
}
