/* text.c: texts as Python takes them apart and prints them, for the scheduler is written in Python. */
#include "dialect/nova/internal.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\n\r\v\f\x1c\x1d\x1e\x1f"

void nova_words_add(struct words *w, const char *text, struct arena *a)
{
    w->items = arena_grow(a, w->items, w->n, &w->cap, sizeof *w->items);
    w->items[w->n++] = text;
}

bool nova_words_have(const struct words *w, const char *text)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->items[i], text) == 0)
            return true;
    return false;
}

struct words nova_words_split(const char *text, struct arena *a)
{
    struct words ret = {0};

    for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
        size_t n = strcspn(text, BLANKS);

        nova_words_add(&ret, arena_strndup(a, text, n), a);
        text += n;
    }
    return ret;
}

char *nova_stripped(const char *text, size_t n, const char *blanks, struct arena *a)
{
    while (n > 0 && strchr(blanks, *text)) {
        text++;
        n--;
    }
    while (n > 0 && strchr(blanks, text[n - 1]))
        n--;
    return arena_strndup(a, text, n);
}

struct words nova_parts_split(const char *text, char separator, struct arena *a)
{
    struct words ret = {0};

    for (;;) {
        const char *end = strchrnul(text, separator);

        nova_words_add(&ret, nova_stripped(text, (size_t)(end - text), BLANKS, a), a);
        if (!*end)
            return ret;
        text = end + 1;
    }
}

/* Without blanks around it, and without underscores between digits. NULL: an underscore elsewhere. */
static char *plain_number(const char *text, struct arena *a)
{
    char *ret = arena_strdup(a, nova_stripped(text, strlen(text), BLANKS, a));
    char *to = ret;

    for (const char *at = ret; *at; at++) {
        if (*at == '_' && (at == ret || !isdigit((unsigned char)at[-1]) || !isdigit((unsigned char)at[1])))
            return NULL;
        if (*at != '_')
            *to++ = *at;
    }
    *to = '\0';
    return ret;
}

bool nova_python_float(const char *text, struct arena *a, double *ret)
{
    const char *plain = plain_number(text, a);

    if (!plain)
        return false;
    if (number_parse(plain, ret))
        return true;
    const char *word = plain + (*plain == '+' || *plain == '-');

    if (strcasecmp(word, "nan") == 0)
        *ret = NAN;
    else if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)
        *ret = *plain == '-' ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

bool nova_python_int(const char *text, struct arena *a, json_int_t *ret)
{
    const char *plain = plain_number(text, a);
    const char *digits = plain ? plain + (*plain == '+' || *plain == '-') : "";

    if (!*digits || digits[strspn(digits, "0123456789")] != '\0' || strlen(digits) > 15)
        return false;
    *ret = strtoll(plain, NULL, 10);
    return true;
}

/* The shortest text that gives the number again. */
static const char *float_text(double value, struct arena *a)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return arena_printf(a, "%s%s", text, strpbrk(text, ".en") ? "" : ".0");
}

const char *nova_python_str(const json_t *value, struct arena *a)
{
    if (json_is_string(value))
        return arena_strdup(a, json_string_value(value));
    if (json_is_integer(value))
        return arena_printf(a, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return float_text(json_real_value(value), a);
    return json_is_boolean(value) ? (json_is_true(value) ? "True" : "False") : NULL;
}

const char *nova_constant(const char *text, struct arena *a)
{
    return text[0] == '$' ? arena_printf(a, "$%s", text) : text;
}

json_t *nova_expression_in(json_t *of, const struct words *texts, struct arena *a)
{
    if (texts->n == 0) {
        json_decref(of);
        return json_false();
    }
    json_t *ret = json_pack("[s, o]", "in", of);

    for (size_t i = 0; i < texts->n; i++)
        (void)json_array_append_new(ret, json_string(nova_constant(texts->items[i], a)));
    return ret;
}
