#include "render/render.h"

#include <stdlib.h>
#include <string.h>

/* policy_get() gives the form that is typed; JSON has types of its own. */
static void put_setting(struct json_writer *w, const char *key, const struct setting *s, const char *value)
{
    char *end;

    switch (s->type) {
    case SETTING_BOOL:
        json_bool(w, key, strcmp(value, "true") == 0);
        return;
    case SETTING_INT:
    case SETTING_NUMBER: {
        double number = strtod(value, &end);
        if (*end)
            json_text(w, key, value); /* "auto" */
        else
            json_exact(w, key, number);
        return;
    }
    case SETTING_WORD:
        json_text(w, key, value);
        return;
    }
}

void render_policy(struct json_writer *w, const char *key, const struct policy *policy)
{
    struct arena scratch = {0};
    const char *group = NULL; /* "dpm" while inside of it */
    size_t group_len = 0;
    size_t n;
    const struct setting *settings = policy_settings(&n);

    json_begin(w, key, JSON_OBJECT, JSON_LINES);
    for (size_t i = 0; i < n; i++) {
        const char *dot = strchr(settings[i].key, '.');
        size_t len = dot ? (size_t)(dot - settings[i].key) : 0;
        if (group && (len != group_len || strncmp(group, settings[i].key, len) != 0)) {
            json_end(w);
            group = NULL;
        }
        if (dot && !group) {
            group = arena_strndup(&scratch, settings[i].key, len);
            group_len = len;
            json_begin(w, group, JSON_OBJECT, JSON_LINES);
        }
        put_setting(w, dot ? dot + 1 : settings[i].key, &settings[i],
                    policy_get(policy, &settings[i], &scratch));
    }
    if (group)
        json_end(w);
    json_end(w);
    arena_release(&scratch);
}
