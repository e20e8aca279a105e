#include "cli/output.h"

#include "base/cleanup.h"
#include "render/table.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define LINE_MAX_BYTES 4096

void cli_error(const char *format, ...)
{
    CLEANUP(strbuf_releasep) struct strbuf line = {0};
    char text[LINE_MAX_BYTES];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    strbuf_init(&line, STRBUF_NO_LIMIT);
    text_put(&line, text);
    (void)fprintf(stderr, "%s\n", line.text);
}

enum exit_code cli_write(const struct strbuf *out)
{
    errno = 0;
    if (fwrite(out->text, 1, out->len, stdout) == out->len && fflush(stdout) == 0)
        return EXIT_DONE;
    cli_error("standard output: %s", strerror(errno ? errno : EIO));
    return EXIT_FAILED;
}

enum exit_code cli_format(const struct args *args, size_t option, enum cli_format *ret)
{
    const char *word = args_value(args, option, "text");

    if (strcmp(word, "text") == 0)
        *ret = FORMAT_TEXT;
    else if (strcmp(word, "json") == 0)
        *ret = FORMAT_JSON;
    else {
        cli_error("--format: \"%s\" is not known, expected text or json", word);
        return EXIT_WRONG;
    }
    return EXIT_DONE;
}
