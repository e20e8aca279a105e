/* internal.h: fields that question.c and page.c read. For the files of request only. */
#ifndef BALLAST_REQUEST_INTERNAL_H
#define BALLAST_REQUEST_INTERNAL_H

#include "request/request.h"

/* A list of ids or names. -EINVAL and a sentence, as all below. */
int request_read_names(const json_t *v, const char *key, const char *of, const char *one, struct request *r,
                       struct request_words *ret, struct err *err);

int request_read_host_off(const json_t *v, struct request *r, struct err *err);
int request_read_host_on(const json_t *v, struct request *r, struct err *err);
int request_read_maintenance(const json_t *v, struct request *r, struct err *err);
int request_read_pass(const json_t *v, struct request *r, struct err *err);
int request_read_before(const json_t *v, struct request *r, struct err *err);
int request_read_offset(const json_t *v, struct request *r, struct err *err);
int request_read_set(const json_t *v, struct request *r, struct err *err);
int request_read_demand(const json_t *v, struct request *r, struct err *err);
int request_read_resource(const json_t *v, struct request *r, struct err *err);
int request_read_wide(const json_t *v, struct request *r, struct err *err);

#endif
