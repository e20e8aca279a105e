/* page.c: the fields that choose a part of a list, or one of it, by a number. */
#include "request/internal.h"

#include <errno.h>

static int read_number(const json_t *v, json_int_t least, const char *key, const char *what, uint64_t *ret,
                       struct err *err)
{
    if (!json_is_integer(v) || json_integer_value(v) < least)
        return err_set(err, -EINVAL, "\"%s\": expected %s", key, what);
    *ret = (uint64_t)json_integer_value(v);
    return 0;
}

int request_read_pass(const json_t *v, struct request *r, struct err *err)
{
    return read_number(v, 1, "pass", "the number of a pass", &r->pass, err);
}

int request_read_before(const json_t *v, struct request *r, struct err *err)
{
    return read_number(v, 1, "before", "the number of the last one of the page before", &r->before, err);
}

int request_read_offset(const json_t *v, struct request *r, struct err *err)
{
    return read_number(v, 0, "offset", "how many rows to leave out", &r->offset, err);
}
