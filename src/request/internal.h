/* internal.h: the fields of a request, and those that question.c reads. For the files of request only. */
#ifndef BALLAST_REQUEST_INTERNAL_H
#define BALLAST_REQUEST_INTERNAL_H

#include "request/request.h"

struct request_field;

/* Reads the field's value into the request. -EINVAL and a sentence that names the field. */
typedef int request_reader(const struct request_field *f, const json_t *v, struct request *r,
                           struct err *err);

struct request_field {
    const char *name;
    uint64_t kinds; /* a bit for each command with this field */
    bool required;
    request_reader *read;
    enum request_form form;
    size_t at, size; /* the member of struct request, where the reader serves several fields */
    int least, most; /* of a number */
    const char *expected;
};

request_reader request_read_set;
request_reader request_read_demand;
request_reader request_read_resource;

/* Ids or names of what is expected, "VM": a struct request_words; or their number, where they are the only
 * words. */
request_reader request_read_names;
request_reader request_read_list;

#endif
