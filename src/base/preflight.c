/* preflight.c: adds items to the list of `check-config --connect`. It looks at nothing itself. */
#include <ballast/preflight.h>

#include <stdarg.h>
#include <stdio.h>

#define TEXT_MAX 1024 /* longer sentences are cut: a peer's own words can be in them */

void preflight_add(struct preflight *p, enum preflight_area area, enum preflight_verdict verdict,
                   const char *format, ...)
{
    char text[TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    p->items = arena_grow(p->a, p->items, p->n, &p->cap, sizeof *p->items);
    p->items[p->n++] =
        (struct preflight_item){.area = area, .verdict = verdict, .text = arena_strdup(p->a, text)};
}

void preflight_advise(struct preflight *p, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (p->n > 0)
        p->items[p->n - 1].advice = arena_strdup(p->a, text);
}

void preflight_about(struct preflight *p, const char *key, const char *choice)
{
    struct preflight_item *last = &p->items[p->n - 1];

    last->key = key;
    last->choice = choice ? arena_strdup(p->a, choice) : NULL;
}
