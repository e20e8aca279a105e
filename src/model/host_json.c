/* host_json.c: one host as JSON text, by the fields of a snapshot's hosts. */
#include "model/host_json.h"

#include "model/snapshot_fields.h"
#include "schema/json_tree.h"
#include "schema/reader.h"
#include "schema/writer.h"

#include <ballast/inventory.h>

#include <math.h>
#include <string.h>

void host_json_write(const struct host_facts *f, struct strbuf *out)
{
    const struct seen_host seen = {.is = *f};
    struct json_writer w = {.out = out};

    writer_object(&w, NULL, &snapshot_fields_host, &seen);
    if (out->len > 0 && out->text[out->len - 1] == '\n')
        out->text[--out->len] = '\0';
}

int host_json_read(const char *text, struct arena *a, struct host_facts *ret, struct err *err)
{
    struct seen_host seen = {0};
    struct reader r = {.a = a, .err = err};
    struct node *n;
    int code = json_tree_parse(text, a, &n, err);

    host_facts_default(&seen.is);
    if (code == 0)
        code = reader_object(&r, n, &snapshot_fields_host, &seen);
    if (code == 0)
        *ret = seen.is;
    return code;
}
