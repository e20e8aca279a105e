/* A request of the API over HTTP: its target, and behind a line feed its body. */
#include "http/route.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_text(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ')
            abort();
    }
}

static void make_request(const struct target *t, const char *body, size_t len)
{
    struct request *request = malloc(sizeof *request);
    json_t *root = len > 0 ? json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    struct err err = {0};

    for (unsigned m = 0; request && m < http_method_count; m++) {
        struct route_values values;
        unsigned methods;
        const struct route *r = route_find((enum http_method)m, t, &values, &methods);

        if ((r != NULL) != ((methods & 1u << m) != 0))
            abort();
        if (r && r->kind <= ROUTE_MEMBER && route_request(r, &values, t, root, request, &err) == 0 &&
            request->kind != r->request)
            abort();
    }
    json_decref(root);
    free(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    const size_t len = line ? (size_t)(line - data) : size;
    char *raw = malloc(len + 1);
    struct target t;
    struct err err;

    if (!raw)
        return 0;
    memcpy(raw, data, len);
    raw[len] = '\0';
    if (target_parse(raw, &t, &err) == 0) {
        for (size_t i = 0; i < t.n_segments; i++) {
            check_text(t.segments[i]);
            if (t.segments[i][0] == '\0' || strcmp(t.segments[i], "..") == 0 ||
                strcmp(t.segments[i], ".") == 0)
                abort();
        }
        for (size_t i = 0; i < t.n_parameters; i++)
            check_text(t.parameters[i].value);
        make_request(&t, line ? (const char *)line + 1 : "", line ? size - len - 1 : 0);
    }
    target_release(&t);
    free(raw);
    return 0;
}
