/* settings.c: changes settings by KEY=VALUE, and finds what is to be warned of. */
#include "decision/decision.h"

#include <errno.h>
#include <string.h>

static void warn(struct decision_warnings *w, struct arena *a, const char *text)
{
    if (!w)
        return;
    w->items = arena_grow(a, w->items, w->n, &w->cap, sizeof *w->items);
    w->items[w->n++] = text;
}

int decision_change_settings(const char *const *sets, size_t n, struct arena *a, struct policy *policy,
                             struct decision_warnings *ret_warnings, struct err *err)
{
    const char *warning;
    const char *warned;
    const bool known = policy_warning(policy, &warned); /* the settings were read with this warning before */

    for (size_t i = 0; i < n; i++) {
        const char *equals = strchr(sets[i], '=');

        if (!equals)
            return err_set(err, -EINVAL, "\"%s\" has no =, expected KEY=VALUE", sets[i]);
        const char *key = arena_strndup(a, sets[i], (size_t)(equals - sets[i]));
        int r = policy_set(policy, key, equals + 1, err);

        if (r < 0)
            return r;
        if (policy_is_former_setting(key))
            warn(ret_warnings, a, arena_printf(a, POLICY_FORMER_SETTING_WARNING, key));
    }
    if (!known && (warning = policy_warning(policy, &warned)) != NULL)
        warn(ret_warnings, a, warning);
    return 0;
}
