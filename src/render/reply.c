/* reply.c: reads the fields of a reply. */
#include "render/reply.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <ballast/units.h>

#include <string.h>

const char *reply_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *reply_or_dash(const json_t *object, const char *key)
{
    const char *text = reply_text(object, key);

    return text ? text : "-";
}

double reply_number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);

    return json_is_number(v) ? json_number_value(v) : UNKNOWN;
}

int64_t reply_int(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

void reply_dump(const json_t *value, struct strbuf *out)
{
    CLEANUP(freep) char *text = json_dumps(value, JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));

    utf8_put_json(out, text ? text : "null", strlen(text ? text : "null"));
    strbuf_puts(out, "\n");
}
