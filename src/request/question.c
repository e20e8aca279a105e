/* question.c: the fields of questions about a snapshot: settings, assumptions, resources; and lists of names.
 */
#include "request/internal.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <errno.h>
#include <string.h>

/* -EINVAL: it has a NUL, or does not fit. Texts of one line do; numbers may be longer than they were written.
 */
static int add_word(struct request *r, const char *word, size_t len)
{
    if (len == 0 || strlen(word) != len || len >= sizeof r->vms - r->words_len)
        return -EINVAL;
    memcpy(r->vms + r->words_len, word, len + 1);
    r->words_len += len + 1;
    return 0;
}

static int add_names(const struct request_field *f, const json_t *v, struct request *r,
                     struct request_words *ret, struct err *err)
{
    size_t n = json_array_size(v);

    if (!json_is_array(v) || n == 0 || n > REQUEST_VMS_MAX)
        return err_set(err, -EINVAL, "\"%s\": expected a list of 1 to %d ids or names of %ss", f->name,
                       REQUEST_VMS_MAX, f->expected);
    *ret = (struct request_words){.at = r->words_len, .n = n};
    for (size_t i = 0; i < n; i++) {
        const json_t *name = json_array_get(v, i);

        if (!json_is_string(name) || add_word(r, json_string_value(name), json_string_length(name)) < 0)
            return err_set(err, -EINVAL, "\"%s\": element %zu is not the id or the name of a %s", f->name, i,
                           f->expected);
    }
    return 0;
}

int request_read_names(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    return add_names(f, v, r, (struct request_words *)((char *)r + f->at), err);
}

int request_read_list(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    struct request_words words = {0};
    int code = add_names(f, v, r, &words, err);

    *(size_t *)((char *)r + f->at) = words.n;
    return code;
}

/* Adds "KEY=VALUE" of a member. */
static int add_member(struct request *r, const char *key, const json_t *value)
{
    CLEANUP(strbuf_releasep) struct strbuf word = STRBUF_EMPTY;

    if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value))
        strbuf_printf(&word, "%s=%s", key, json_string_value(value));
    else if (json_is_integer(value))
        strbuf_printf(&word, "%s=%" JSON_INTEGER_FORMAT, key, json_integer_value(value));
    else if (json_is_real(value))
        strbuf_printf(&word, "%s=%.17g", key, json_real_value(value));
    else if (json_is_boolean(value))
        strbuf_printf(&word, "%s=%s", key, json_is_true(value) ? "true" : "false");
    else
        return -EINVAL;
    return add_word(r, word.text, word.len);
}

int request_read_set(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(v) || json_object_size(v) > REQUEST_VMS_MAX)
        return err_set(err, -EINVAL, "\"%s\": expected settings, such as {\"migration_threshold\": 5}",
                       f->name);
    r->sets = (struct request_words){.at = r->words_len, .n = json_object_size(v)};
    json_object_foreach((json_t *)v, key, value)
    {
        if (*key == '\0' || strchr(key, '=') || add_member(r, key, value) < 0)
            return err_set(err, -EINVAL,
                           "\"%s\": \"%.40s\" is not a setting with a text, a number, true or "
                           "false",
                           f->name, key);
    }
    return 0;
}

int request_read_demand(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(v) || json_object_size(v) == 0 || json_object_size(v) > REQUEST_VMS_MAX)
        return err_set(err, -EINVAL,
                       "\"%s\": expected MHz by the id or the name of a VM, such as "
                       "{\"web-7\": 4000}",
                       f->name);
    r->changes[CHANGE_DEMAND] = (struct request_words){.at = r->words_len, .n = json_object_size(v)};
    json_object_foreach((json_t *)v, key, value)
    {
        if (*key == '\0' || !json_is_number(value) || add_member(r, key, value) < 0)
            return err_set(err, -EINVAL, "\"%s\": \"%.40s\": expected a number of MHz", f->name, key);
    }
    return 0;
}

int request_read_resource(const struct request_field *f, const json_t *v, struct request *r, struct err *err)
{
    const char *word = json_string_value(v);

    if (!word || (strcmp(word, "cpu") != 0 && strcmp(word, "mem") != 0))
        return err_set(err, -EINVAL, "\"%s\": expected \"cpu\" or \"mem\"", f->name);
    r->without[RES_MEM] = strcmp(word, "cpu") == 0;
    r->without[RES_CPU] = !r->without[RES_MEM];
    return 0;
}
