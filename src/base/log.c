/* log.c: writes log lines to standard error. It keeps no file of its own. */
#include "base/log.h"

#include "base/rfc3339.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The only state below the daemon: the log level, set once at the start. */
static atomic_int level_max = LOG_LEVEL_INFO;

static const char *const level_words[] = {
    [LOG_LEVEL_ERROR] = "error", [LOG_LEVEL_WARNING] = "warning", [LOG_LEVEL_NOTICE] = "notice",
    [LOG_LEVEL_INFO] = "info",   [LOG_LEVEL_DEBUG] = "debug",
};

void log_set_level(enum log_level level)
{
    atomic_store(&level_max, (int)level);
}

void log_at(enum log_level level, const char *format, ...)
{
    if ((int)level > atomic_load(&level_max))
        return;
    char message[2048];
    char line[2200];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    /* one line a message, and no command to a terminal, even with a peer's text in it */
    for (char *c = message; *c;) {
        bool safe;
        const size_t n = utf8_step((unsigned char *)c, &safe);

        if (!safe)
            memset(c, (unsigned char)*c < ' ' ? ' ' : '?', n);
        c += n;
    }
    int len;
    if (getenv("JOURNAL_STREAM")) {
        len = snprintf(line, sizeof line, "<%d>%s\n", (int)level, message);
    } else {
        char now[RFC3339_MAX];
        len = snprintf(line, sizeof line, "%s %s: %s\n", rfc3339_format(time(NULL), now), level_words[level],
                       message);
    }
    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0)
        return; /* standard error failed; nowhere to report it */
}
