/* A line on the service's socket. */
#include "request/request.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each word lies in the request, with its end, and has something in it. */
static void check_words(const struct request *r, struct request_words w)
{
    const char *at = r->vms + w.at;

    for (size_t i = 0; i < w.n; i++) {
        const size_t left = (size_t)(r->vms + r->words_len - at);

        if (at >= r->vms + r->words_len || strnlen(at, left) == left || *at == '\0')
            abort();
        at += strlen(at) + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request *request = malloc(sizeof *request);
    struct err err;

    const bool good = request && request_parse((const char *)data, size, request, &err) == 0;

    if (good &&
        (request->n_ids > REQUEST_IDS_MAX || (request->kind == REQUEST_APPLY && request->n_ids == 0) ||
         request->n_vms > REQUEST_VMS_MAX || (request->kind == REQUEST_PLACE && request->n_vms == 0)))
        abort();
    if (good) {
        check_words(request, request->sets);
        for (unsigned i = 0; i < change_kind_count; i++)
            check_words(request, request->changes[i]);
    }
    free(request);
    return 0;
}
