/* reply_config.c: what a reload would change, as JSON. It takes nothing over. */
#include "daemon/replies/replies.h"

#include "base/cleanup.h"
#include "base/json_writer.h"
#include "daemon/threads/power_setup.h"

#include <errno.h>
#include <string.h>

static void put_changes(const struct config *in_force, const struct config *fresh, const struct engine *e,
                        struct arena *a, struct json_writer *w)
{
    struct config_change *changes = NULL;
    const size_t n = fresh ? config_changes(in_force, fresh, a, &changes) : 0;

    jw_begin(w, "changes", JW_ARRAY, JW_INLINE);
    for (size_t i = 0; i < n; i++) {
        const enum config_effect effect = config_change_effect(&changes[i], engine_is_changing_power(e));

        jw_begin(w, NULL, JW_OBJECT, JW_INLINE);
        jw_text(w, "key", changes[i].key->name);
        jw_text(w, "now", changes[i].from);
        jw_text(w, "then", changes[i].to);
        jw_bool(w, "contents", changes[i].secret);
        jw_text(w, "effect", config_effect_name(effect));
        jw_end(w);
    }
    jw_end(w);
}

int reply_config_diff(const struct config *in_force, const struct engine *e, const struct request *q,
                      struct strbuf *out, struct err *err)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct config *fresh = arena_new(&a, struct config);
    const char *file = q->name[0] ? q->name : in_force->path;
    struct mistakes mistakes = {0};
    struct err why = {0};
    struct json_writer w = {.out = out};
    char *text = NULL;
    size_t len = q->text_len;
    int r = 0;

    if (!q->has_text && (r = config_read_text(file, &a, &text, &len, err)) < 0)
        return r;
    r = config_parse_all(file, q->has_text ? q->vms : text, len, CONFIG_FOR_SERVICE, &a, fresh, &mistakes,
                         &why);
    if (r == 0)
        r = power_setup_check(fresh, &why);
    if (r < 0 && (mistakes.n == 0 || strcmp(mistakes.items[mistakes.n - 1], why.text) != 0)) {
        mistakes.items = arena_grow(&a, mistakes.items, mistakes.n, &mistakes.cap, sizeof *mistakes.items);
        mistakes.items[mistakes.n++] = why.text;
    }
    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_bool(&w, "ok", true);
    jw_begin(&w, "config_diff", JW_OBJECT, JW_INLINE);
    jw_text(&w, "file", file);
    jw_texts(&w, "mistakes", mistakes.items, mistakes.n, JW_INLINE);
    jw_texts(&w, "warnings", fresh->warnings, r < 0 ? 0 : fresh->n_warnings, JW_INLINE);
    put_changes(in_force, r < 0 ? NULL : fresh, e, &a, &w);
    jw_end(&w);
    jw_end(&w);
    return 0;
}
