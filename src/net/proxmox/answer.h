/* proxmox/answer.h: reads an answer of the API. */
#ifndef BALLAST_NET_PROXMOX_ANSWER_H
#define BALLAST_NET_PROXMOX_ANSWER_H

#include "net/http.h"

#include <jansson.h>

/* What it has as "data"; the caller releases it. changes: the request was one that changes something. Errors
 * as of pve_get() and pve_post(). */
int pve_answer_read(const char *url, const struct http_answer *answer, bool changes, json_t **ret,
                    struct err *err);

#endif
