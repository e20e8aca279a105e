/* api_document.c: the $defs of schemas, and a document as text. */
#include "api_document.h"

#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 150

static const char *source_dir(void)
{
    const char *source = getenv("BALLAST_SOURCE_DIR");

    return source ? source : "../..";
}

json_t *api_document_definitions(const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/conf/schema/%s.json", source_dir(), name);
    json_t *file = json_load_file(path, 0, NULL);
    json_t *found = json_incref(json_object_get(file, "$defs"));

    if (!found)
        fail_msg("%s has no $defs", path);
    json_decref(file);
    return found;
}

json_t *api_document_definition(json_t *of, const char *name)
{
    json_t *d = json_object_get(of, name);
    const char *to = json_string_value(json_object_get(d, "$ref"));

    return to && strncmp(to, "#/$defs/", 8) == 0 ? api_document_definition(of, to + 8) : d;
}

json_t *api_document_reference(const char *format, ...)
{
    char to[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(to, sizeof to, format, args);
    va_end(args);
    return json_pack("{s:s}", "$ref", to);
}

/* On one line what fits there. */
static void write_value(struct strbuf *out, const json_t *v, size_t indent, size_t used)
{
    char *line = json_dumps(v, JSON_ENCODE_ANY);
    const bool list = json_is_array(v);
    const size_t n = list ? json_array_size(v) : json_object_size(v);
    void *at = json_object_iter((json_t *)v);

    if (n == 0 || used + strlen(line) < COLUMNS) {
        strbuf_puts(out, line);
        free(line);
        return;
    }
    free(line);
    strbuf_puts(out, list ? "[" : "{");
    for (size_t i = 0; i < n; i++) {
        const char *key = list ? "" : json_object_iter_key(at);
        const size_t before = out->len;

        strbuf_printf(out, "%s\n%*s", i ? "," : "", (int)indent + 1, "");
        if (!list)
            strbuf_printf(out, "\"%s\": ", key);
        write_value(out, list ? json_array_get(v, i) : json_object_iter_value(at), indent + 1,
                    out->len - before);
        at = list ? NULL : json_object_iter_next((json_t *)v, at);
    }
    strbuf_printf(out, "\n%*s%s", (int)indent, "", list ? "]" : "}");
}

char *api_document_text(const json_t *document)
{
    struct strbuf out;

    strbuf_init(&out, STRBUF_NO_LIMIT);
    write_value(&out, document, 0, 0);
    strbuf_puts(&out, "\n");
    return out.text;
}

void api_document_compare(const json_t *document, const char *file, const char *made_by)
{
    CLEANUP(strbuf_releasep) struct strbuf found = {0};
    char path[4096];
    char piece[4096];
    size_t len;

    (void)snprintf(path, sizeof path, "%s/conf/%s", source_dir(), file);
    CLEANUP(fclosep) FILE *f = fopen(path, "re");
    if (!f)
        fail_msg("%s cannot be read", path);
    strbuf_init(&found, STRBUF_NO_LIMIT);
    while (f && (len = fread(piece, 1, sizeof piece, f)) > 0)
        strbuf_add(&found, piece, len);
    char *expected = api_document_text(document);
    bool same = strcmp(expected, found.text ? found.text : "") == 0;

    free(expected);
    if (!same)
        fail_msg("%s is not up to date: %s", path, made_by);
}
