/* search.c: parses a search, and matches elements. */
#include "http/rest/search.h"

#include "base/number.h"
#include "base/strbuf.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define PAGE_MAX 1000000

static const char *const field_names[] = {"id", "name", "status", "cluster", "host"};

struct input {
    const char *at;
    struct arena *a;
    struct err *err;
};

static void skip_blanks(struct input *in)
{
    while (*in->at == '+' || isspace((unsigned char)*in->at))
        in->at++;
}

/* A word without quotes, or what stands in quotes. NULL: there is none. */
static const char *take_value(struct input *in)
{
    skip_blanks(in);
    const char quote = *in->at == '"' || *in->at == '\'' ? *in->at : '\0';
    const char *from = in->at + (quote != '\0');
    const char ends[] = {quote, '\0'};
    const size_t n = strcspn(from, quote ? ends : "+ \t\r\n=!\"'<>");

    if (quote ? from[n] != quote : n == 0)
        return NULL;
    in->at = from + n + (quote != '\0');
    return arena_strndup(in->a, from, n);
}

static bool take_word(struct input *in, const char *word)
{
    skip_blanks(in);
    const size_t n = strlen(word);
    const char next = strncasecmp(in->at, word, n) == 0 ? in->at[n] : 'x';

    if (next != '\0' && next != '+' && !isspace((unsigned char)next))
        return false;
    in->at += n;
    return true;
}

static int take_page(struct input *in, struct rest_search *s)
{
    const char *text = take_value(in);
    double page;

    if (!text || !number_parse(text, &page) || page < 1 || page > PAGE_MAX || page != (unsigned)page)
        return err_set(in->err, -EINVAL, "search: expected a number from 1 behind page");
    s->page = (unsigned)page;
    return 0;
}

static int find_field(const struct input *in, const char *word, enum rest_kind kind, enum rest_field *ret)
{
    const size_t n = kind == REST_VM ? REST_FIELD_HOST + 1 : REST_FIELD_HOST;

    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(word, field_names[i]) != 0)
            continue;
        *ret = (enum rest_field)i;
        return 0;
    }
    return err_set(in->err, -EINVAL, "search: no field \"%.64s\", expected id, name, status, cluster%s", word,
                   kind == REST_VM ? " or host" : "");
}

static int take_term(struct input *in, enum rest_kind kind, struct rest_term *ret)
{
    const char *word = take_value(in);

    if (!word)
        return err_set(in->err, -EINVAL, "search: expected a field or a name at \"%.64s\"", in->at);
    skip_blanks(in);
    ret->differs = *in->at == '!';
    if (*in->at != '=' && (*in->at == '\0' || !strchr("!<>", *in->at))) {
        ret->field = REST_FIELD_NAME;
        ret->value = word;
        return 0;
    }
    if (in->at[ret->differs] != '=')
        return err_set(in->err, -EINVAL, "search: expected = or != behind \"%.64s\"", word);
    in->at += ret->differs + 1;
    const int r = find_field(in, word, kind, &ret->field);

    if (r < 0)
        return r;
    if (!(ret->value = take_value(in)))
        return err_set(in->err, -EINVAL, "search: expected a value behind \"%.64s\"", word);
    return 0;
}

int rest_search_parse(const char *text, enum rest_kind kind, struct arena *a, struct rest_search *ret,
                      struct err *err)
{
    struct rest_search s = {.page = 1};
    struct input in = {text, a, err};

    for (skip_blanks(&in); *in.at; skip_blanks(&in)) {
        struct rest_term term = {0};
        int r = 0;

        if (take_word(&in, "page")) {
            if ((r = take_page(&in, &s)) < 0)
                return r;
            continue;
        }
        if (take_word(&in, "sortby")) {
            if (!take_value(&in))
                return err_set(err, -EINVAL, "search: expected a field behind sortby");
            (void)(take_word(&in, "asc") || take_word(&in, "desc"));
            continue;
        }
        term.begins = s.n > 0 && take_word(&in, "or");
        if (s.n > 0 && !term.begins)
            (void)take_word(&in, "and");
        if ((r = take_term(&in, kind, &term)) < 0)
            return r;
        s.terms = arena_grow(a, s.terms, s.n, &s.cap, sizeof *s.terms);
        s.terms[s.n++] = term;
    }
    *ret = s;
    return 0;
}

/* Without a stack: the last * alone is tried again. */
static bool value_matches(const char *pattern, const char *text, bool any_case)
{
    const char *star = NULL, *again = NULL;

    while (*text) {
        const char p = any_case ? (char)tolower((unsigned char)*pattern) : *pattern;
        const char t = any_case ? (char)tolower((unsigned char)*text) : *text;

        if (p == '*') {
            star = ++pattern;
            again = text;
        } else if (p == t || (p == '+' && t == ' ')) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star;
            text = ++again;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

static bool member_matches(const struct rest_term *t, const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text && value_matches(t->value, text, t->field == REST_FIELD_STATUS);
}

static bool term_matches(const struct rest_term *t, const json_t *element)
{
    const char *member = field_names[t->field];
    const json_t *inner = json_object_get(element, member);
    const bool same = t->field < REST_FIELD_CLUSTER
                          ? member_matches(t, element, member)
                          : member_matches(t, inner, "name") || member_matches(t, inner, "id");

    return same != t->differs;
}

bool rest_search_matches(const struct rest_search *search, const json_t *element)
{
    bool all = true;

    for (size_t i = 0; i < search->n; i++) {
        if (search->terms[i].begins && all)
            return true;
        all = (all || search->terms[i].begins) && term_matches(&search->terms[i], element);
    }
    return all;
}

const char *rest_search_name(const struct rest_search *search)
{
    const struct rest_term *t = search->terms;

    return search->n == 1 && t->field == REST_FIELD_NAME && !t->differs && !strpbrk(t->value, "*+") ? t->value
                                                                                                    : NULL;
}
