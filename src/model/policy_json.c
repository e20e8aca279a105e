/* policy_json.c: writes and reads settings as JSON. Their names and ranges are policy_settings.c's. */
#include "model/policy_json.h"

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

void policy_json_put(struct json_writer *w, const char *key, const struct policy *policy)
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

/* The value in the form that policy_set() reads; NULL: not a type that a setting has. */
static const char *value_text(const struct node *n, struct arena *a)
{
    double number;
    bool yes;

    if (node_number(n, &number))
        return arena_printf(a, "%.17g", number);
    if (node_bool(n, &yes))
        return yes ? "true" : "false";
    return node_text(n);
}

static int read_setting(const struct reader *r, const struct node *n, const char *key, struct policy *ret)
{
    static const struct schema settings = {.what = "policy"};
    struct err err = {0};

    if (policy_is_former_setting(key) || node_is_null(n))
        return 0;
    if (!policy_find_setting(key)) {
        reader_note_unknown(r, n, &settings);
        return 0;
    }
    const char *text = value_text(n, r->a);
    if (!text)
        return reader_refuse(r, n, "a number, true, false or a word");
    return policy_set(ret, key, text, &err) < 0 ? reader_complain(r, n, "%s", err.text) : 0;
}

static int read_group(const struct reader *r, const struct node *group, struct policy *ret)
{
    int rc = 0;

    for (const struct node *n = group->first; n && rc == 0; n = n->next)
        rc = read_setting(r, n, arena_printf(r->a, "%s.%s", group->key, n->key), ret);
    return rc;
}

int policy_json_read(const struct reader *r, const struct node *of, struct policy *ret)
{
    int rc = 0;

    policy_default(ret);
    if (of->kind != NODE_MAP)
        return reader_refuse(r, of, "an object");
    for (const struct node *n = of->first; n && rc == 0; n = n->next)
        rc = n->kind == NODE_MAP ? read_group(r, n, ret) : read_setting(r, n, n->key, ret);
    return rc;
}
