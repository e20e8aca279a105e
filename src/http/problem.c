/* problem.c: problem documents. */
#include "http/problem.h"

#include "base/json_writer.h"

#include <errno.h>

static const struct {
    const char *uri;
    unsigned status;
    const char *title;
} problems[problem_count] = {
#define PROBLEM_ENTRY(e, name, status, title) [e] = {"/problems/" name, (status), (title)},
    PROBLEMS(PROBLEM_ENTRY)};

unsigned problem_status(enum problem p)
{
    return problems[p].status;
}

const char *problem_title(enum problem p)
{
    return problems[p].title;
}

enum problem problem_of(const struct err *err)
{
    switch (-err->code) {
    case EINVAL:
        return PROBLEM_REQUEST;
    case EPERM:
        return PROBLEM_FORBIDDEN;
    case ENOENT:
        return PROBLEM_NOT_FOUND;
    case ENOANO:
        return PROBLEM_UNCONFIRMED;
    case EUSERS:
    case EAGAIN: /* nothing has been read yet */
        return PROBLEM_OVERLOADED;
    case EIO:
    case ENOMEM:
        return PROBLEM_INTERNAL;
    default:
        return PROBLEM_CONFLICT;
    }
}

void problem_write(enum problem p, const char *detail, struct strbuf *out)
{
    struct json_writer w = {.out = out};

    jw_begin(&w, NULL, JW_OBJECT, JW_INLINE);
    jw_text(&w, "type", problems[p].uri);
    jw_text(&w, "title", problems[p].title);
    jw_int(&w, "status", problems[p].status);
    jw_text(&w, "detail", detail);
    jw_end(&w);
}
