/* shared_text.c: texts with counted references. */
#include "base/shared_text.h"

#include "base/xalloc.h"

#include <stdatomic.h>
#include <stdlib.h>

struct shared_text {
    atomic_size_t references;
    struct strbuf text;
};

struct shared_text *shared_text_new(struct strbuf *text)
{
    struct shared_text *t = xcalloc(1, sizeof *t);

    atomic_init(&t->references, 1);
    t->text = *text;
    *text = (struct strbuf){0};
    return t;
}

struct shared_text *shared_text_ref(struct shared_text *t)
{
    (void)atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
    return t;
}

void shared_text_unref(struct shared_text *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) > 1)
        return;
    strbuf_release(&t->text);
    free(t);
}

const char *shared_text_bytes(const struct shared_text *t)
{
    return t->text.text;
}

size_t shared_text_length(const struct shared_text *t)
{
    return t->text.len;
}
