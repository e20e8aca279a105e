/* Expressions of pipelines: read, evaluated for a VM and a host, written, and read again to the same. */
#include "core/fit/expression.h"
#include "base/strbuf.h"
#include "model/expression.h"
#include "schema/json_tree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Every variable has some value, of a type that goes round. */
static struct value any_value(uint32_t n)
{
    static const char *const texts[] = {"a", "6.2, 7", "", "12"};

    return n % 5 == 0   ? (struct value){.type = VALUE_ABSENT}
           : n % 5 == 1 ? (struct value){.type = VALUE_NUMBER, .number = n}
           : n % 5 == 2 ? (struct value){.type = VALUE_TEXT, .text = texts[n % 4]}
           : n % 5 == 3 ? (struct value){.type = VALUE_TRUTH, .truth = true}
                        : (struct value){.type = VALUE_TEXTS, .texts = {texts, 4}};
}

static bool evaluate(struct expression *x, struct arena *a)
{
    struct host_group groups[2] = {{.is = {.kind = "zone"}}, {.is = {.kind = "aggregate"}}};
    const struct snapshot s = {.groups = groups, .n_groups = 2};
    const uint32_t in[] = {0, 1};
    struct value *row = arena_array(a, struct value, (size_t)2 * x->n);
    struct expression_node *nodes = arena_array(a, struct expression_node, x->n);

    memcpy(nodes, x->nodes, x->n * sizeof *nodes);
    x->nodes = nodes;
    for (uint32_t i = 0; i < x->n; i++) {
        nodes[i].column = i;
        row[i] = any_value(i);
        row[x->n + i] = any_value(i + 1);
    }
    const struct expression_scope scope = {.host = row,
                                           .vm = row,
                                           .groups = row,
                                           .group_width = x->n,
                                           .snap = &s,
                                           .host_groups = in,
                                           .n_host_groups = 2};
    bool is = expression_is_true(x, &scope);

    return expression_deciding(x, &scope) < x->n && is;
}

static int read_text(const char *text, size_t size, struct arena *a, struct expression *ret, struct err *err)
{
    const struct reader r = {.a = a, .err = err};
    const struct json_source source = {.text = text, .len = size};
    struct node *n;
    int e = json_tree_read(&source, NULL, a, &n, err);

    if (e == 0)
        e = expression_read(&r, n, ret);
    if ((e < 0) != (err->code != 0))
        abort();
    return e;
}

static void write_text(const struct expression *x, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    strbuf_init(out, STRBUF_NO_LIMIT);
    expression_write(&w, NULL, x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct err err = {0};
    struct expression x = {0};
    struct expression again = {0};
    struct strbuf text[2];

    if (read_text((const char *)data, size, &a, &x, &err) == 0) {
        write_text(&x, &text[0]);
        if (read_text(text[0].text, text[0].len, &a, &again, &err) < 0)
            abort();
        write_text(&again, &text[1]);
        if (strcmp(text[0].text, text[1].text) != 0 || evaluate(&x, &a) != evaluate(&again, &a))
            abort();
        strbuf_release(&text[0]);
        strbuf_release(&text[1]);
    }
    arena_release(&a);
    return 0;
}
