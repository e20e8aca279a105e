/* A log or a reply that goes into a report for other people: whatever it holds, a token and a URL's password
 * do not come through. */
#include "base/mask.h"
#include "base/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HEX16 "0123456789abcdef"
#define TOKEN "ballast_" HEX16 HEX16 HEX16 HEX16
#define URL "https://user:unguessable@host/"

static void must_be_gone(const uint8_t *data, size_t size, const char *secret, const char *part)
{
    CLEANUP(strbuf_releasep) struct strbuf in = {0};
    CLEANUP(strbuf_releasep) struct strbuf out = {0};

    strbuf_init(&in, STRBUF_NO_LIMIT);
    strbuf_init(&out, STRBUF_NO_LIMIT);
    strbuf_add(&in, data, size / 2);
    strbuf_puts(&in, " ");
    strbuf_puts(&in, secret);
    strbuf_puts(&in, " ");
    strbuf_add(&in, data + size / 2, size - size / 2);
    mask_secrets(in.text, in.len, &out);
    if (memmem(out.text, out.len, part, strlen(part)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (memmem(data, size, "unguessable", 11) || memmem(data, size, TOKEN, strlen(TOKEN)))
        return 0;
    must_be_gone(data, size, TOKEN, TOKEN);
    must_be_gone(data, size, URL, "unguessable");
    return 0;
}
