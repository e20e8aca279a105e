/* host_json.c: one host as JSON text, by the fields of a snapshot's hosts. */
#include "model/host_json.h"

#include "model/snapshot_fields.h"
#include "schema/reader.h"
#include "schema/writer.h"

#include <ballast/inventory.h>

#include <errno.h>
#include <math.h>

void host_json_write(const struct host_facts *f, struct strbuf *out)
{
    const struct seen_host seen = {.is = *f};
    struct json_writer w;

    jw_init(&w, out);
    writer_object(&w, NULL, &snapshot_fields_host, &seen);
    if (out->len > 0 && out->text[out->len - 1] == '\n')
        out->text[--out->len] = '\0';
}

int host_json_read(const char *text, struct arena *a, struct host_facts *ret, struct err *err)
{
    struct seen_host seen = {0};
    struct reader r = {.a = a, .err = err};
    json_error_t syntax;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &syntax);

    if (!json)
        return err_set(err, -EINVAL, "%s", syntax.text);
    const struct node n = node_of_json(json, NULL, NULL, 0);
    host_facts_default(&seen.is);
    int code = reader_object(&r, &n, &snapshot_fields_host, &seen);

    json_decref(json);
    if (code == 0)
        *ret = seen.is;
    return code;
}
