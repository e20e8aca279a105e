/* Bytes of a serial line: the text made of them is UTF-8 without control characters, in lines that end,
 * and cleaning it again changes nothing. */
#include "base/console_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf once, twice;

    strbuf_init(&once, STRBUF_NO_LIMIT);
    strbuf_init(&twice, STRBUF_NO_LIMIT);
    console_text_clean(data, size, &once);
    console_text_clean(once.text, once.len, &twice);
    if (once.len != twice.len || memcmp(once.text, twice.text, once.len) != 0)
        abort();
    for (size_t i = 0; i < once.len; i++) {
        if (((unsigned char)once.text[i] < 0x20 && once.text[i] != '\n') || once.text[i] == 0x7f)
            abort();
    }
    if (once.len > 0 && once.text[once.len - 1] != '\n')
        abort();
    strbuf_release(&once);
    strbuf_release(&twice);
    return 0;
}
