/* The body of a form of the status page, and text that the page shows. */
#include "http/form.h"
#include "http/html.h"

#include "base/strbuf.h"
#include "base/utf8.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_form(const uint8_t *data, size_t size)
{
    char value[32];
    const int r = form_field((const char *)data, size, "token", value, sizeof value);

    if (r != 0 && r != -ENOENT && r != -EINVAL)
        abort();
    for (const char *at = value; r == 0 && *at; at++) {
        if ((unsigned char)*at < ' ')
            abort();
    }
}

static void check_text(const uint8_t *data, size_t size)
{
    struct strbuf out;
    char *text = malloc(size + 1);

    if (!text)
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    strbuf_init(&out, STRBUF_NO_LIMIT);
    html_text(&out, text);
    for (const unsigned char *at = (const unsigned char *)out.text; *at;) {
        const size_t len = utf8_length(at);

        if (len == 0 || *at < ' ' || strchr("<>\"'", *at))
            abort();
        at += len;
    }
    strbuf_release(&out);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_form(data, size);
    check_text(data, size);
    return 0;
}
