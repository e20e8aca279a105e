/* A line on the service's socket. */
#include "request/request.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request *request = malloc(sizeof *request);
    struct err err;

    if (request && request_parse((const char *)data, size, request, &err) == 0 &&
        (request->n_ids > REQUEST_IDS_MAX || (request->kind == REQUEST_APPLY && request->n_ids == 0) ||
         request->n_vms > REQUEST_VMS_MAX || (request->kind == REQUEST_PLACE && request->n_vms == 0)))
        abort();
    free(request);
    return 0;
}
