/* config_diff.c: the configuration as text, and its differences after a reload. */
#include "config/config.h"

#include "base/name_define.h"
#include "base/texts.h"
#include "config/keys.h"
#include "config/section.h"
#include "config/sections.h"

#include <string.h>

static bool is_power_hosts(const struct field *key)
{
    return strcmp(key->name, "power.hosts") == 0;
}

static const struct hidden_text *hidden(const struct config *c, const struct field *key)
{
    return (const struct hidden_text *)((const char *)c + key->offset);
}

const char *config_get(const struct config *c, const struct field *key, struct arena *a)
{
    if (is_power_hosts(key))
        return config_power_text(c->power_hosts, c->n_power_hosts, a);
    if (key->read == section_text)
        return *(const char *const *)((const char *)c + key->offset);
    if (key->read == section_hidden_text)
        return hidden(c, key)->shown;
    if (key->read)
        return config_power_text(c->power_defaults, c->power_defaults ? 1 : 0, a);
    return field_text(key, c, a);
}

/* Compares what is not shown, and the contents of files; another path is a difference of its own. */
static bool secret_changed(const struct config *old, const struct config *now, const struct field *key,
                           struct arena *a)
{
    if (is_power_hosts(key))
        return config_power_secrets_changed(old, now, a);
    if (key->read == section_hidden_text && !texts_same(hidden(old, key)->all, hidden(now, key)->all))
        return true;
    if (strcmp(key->name, "alarms") == 0)
        return config_alarm_secrets_changed(old, now);
    return !texts_same(field_secret(key, old), field_secret(key, now));
}

size_t config_changes(const struct config *old, const struct config *now, struct arena *a,
                      struct config_change **ret)
{
    size_t n_keys, n = 0;
    const struct field *keys = config_keys(now->source.kind, a, &n_keys);
    struct config_change *changes = arena_array(a, struct config_change, n_keys);

    for (size_t i = 0; i < n_keys; i++) {
        const char *from = config_get(old, &keys[i], a), *to = config_get(now, &keys[i], a);
        bool same = texts_same(from, to);

        if (!same && is_power_hosts(&keys[i]))
            config_power_change_text(old, now, a, &from, &to);
        bool changed = !same || secret_changed(old, now, &keys[i], a);

        if (changed)
            changes[n++] = (struct config_change){.key = &keys[i], .from = from, .to = to, .secret = same};
    }
    *ret = changes;
    return n;
}

bool config_is_of_power(const struct config_change *change)
{
    return strncmp(change->key->name, "power.", strlen("power.")) == 0;
}

NAME_DEFINE(config_effect, CONFIG_EFFECTS)

enum config_effect config_change_effect(const struct config_change *change, bool power_waits)
{
    if (change->secret && change->key->flags & FIELD_REREAD)
        return CONFIG_NEXT_LOGIN;
    if (change->key->flags & FIELD_RESTART)
        return CONFIG_NEXT_START;
    return power_waits && config_is_of_power(change) ? CONFIG_AFTER_POWER : CONFIG_NOW;
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
    const struct field *keys = config_keys(old->source.kind, a, &n_keys);

    for (size_t i = 0; i < n_keys; i++) {
        if (keys[i].flags & FIELD_RESTART)
            field_copy(&keys[i], old, now, a);
    }
    if (power)
        config_power_keep(old, now, a);
    now->mqtt.host = arena_strdup(a, old->mqtt.host);
    now->mqtt.port = old->mqtt.port;
    now->mqtt.tls = old->mqtt.tls;
}
