/* The configuration file: any bytes give a message with a line, or a configuration. */
#include "config/config.h"
#include "config/format.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct config c = {0}, again = {0};
    struct config_change *changes;
    struct mistakes mistakes = {0};
    struct strbuf text = {0};
    struct err err = {0};
    int r = config_parse("f", (const char *)data, size, CONFIG_FOR_POLICY, &a, &c, &err);

    if (r < 0 && strncmp(err.text, "f:", 2) != 0)
        abort();
    strbuf_init(&text, STRBUF_NO_LIMIT);
    if (config_format("f", (const char *)data, size, &a, &text, &err) == 0 &&
        config_parse("f", text.text, text.len, CONFIG_FOR_POLICY, &a, &again, NULL) != r)
        abort();
    strbuf_release(&text);
    if (config_parse_all("f", (const char *)data, size, CONFIG_FOR_POLICY, &a, &again, &mistakes, NULL) != r)
        abort();
    if (r == 0) { /* read a second time it is the same, and every value can be told */
        if (config_parse("f", (const char *)data, size, CONFIG_FOR_POLICY, &a, &again, &err) < 0 ||
            config_changes(&c, &again, &a, &changes) != 0)
            abort();
        config_keep_fixed(&c, &again, true, &a);
    }
    arena_release(&a);
    return 0;
}
