/* policy_json.c: the settings of a plan as JSON. */
#include "render/render.h"

#include <stdlib.h>
#include <string.h>

/* policy_get() gives the form that is typed; JSON has types of its own. */
static void put_setting(struct json_writer *w, const char *key, const struct setting *s, const char *value)
{
    char *end;

    switch (s->type) {
    case SETTING_BOOL:
        jw_bool(w, key, strcmp(value, "true") == 0);
        return;
    case SETTING_INT:
    case SETTING_NUMBER: {
        double number = strtod(value, &end);
        if (*end)
            jw_text(w, key, value); /* "auto" */
        else
            jw_exact(w, key, number);
        return;
    }
    case SETTING_WORD:
        jw_text(w, key, value);
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

    jw_begin(w, key, JW_OBJECT, JW_LINES);
    for (size_t i = 0; i < n; i++) {
        const char *dot = strchr(settings[i].key, '.');
        size_t len = dot ? (size_t)(dot - settings[i].key) : 0;
        if (group && (len != group_len || strncmp(group, settings[i].key, len) != 0)) {
            jw_end(w);
            group = NULL;
        }
        if (dot && !group) {
            group = arena_strndup(&scratch, settings[i].key, len);
            group_len = len;
            jw_begin(w, group, JW_OBJECT, JW_LINES);
        }
        put_setting(w, dot ? dot + 1 : settings[i].key, &settings[i],
                    policy_get(policy, &settings[i], &scratch));
    }
    if (group)
        jw_end(w);
    jw_end(w);
    arena_release(&scratch);
}
