/* A Cookie header of a browser, which other services on the host, or a thief, may have filled. */
#include "http/session.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME "ballast-8480"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *header = malloc(size + 1);
    char found[SESSION_TEXT_SIZE] = "";

    if (!header)
        return 0;
    memcpy(header, data, size);
    header[size] = '\0';
    const int r = session_cookie(header, NAME, found);

    if (r != 0 && r != -ENOENT && r != -EINVAL)
        abort();
    if (r == 0 &&
        (strlen(found) != SESSION_TEXT_SIZE - 1 || !strstr(header, found) || !strstr(header, NAME "=")))
        abort();
    if (r == 0 && strspn(found, "0123456789abcdef") != SESSION_TEXT_SIZE - 1)
        abort();
    free(header);
    return 0;
}
