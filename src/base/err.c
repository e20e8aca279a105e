/* err.c: sets and widens error sentences. It logs nothing. */
#include <ballast/err.h>

#include <stdarg.h>
#include <stdio.h>

int err_set(struct err *err, int code, const char *format, ...)
{
    if (!err)
        return code;
    va_list ap;

    va_start(ap, format);
    err->code = code;
    (void)vsnprintf(err->text, sizeof err->text, format, ap);
    va_end(ap);
    return code;
}

int err_widen(struct err *err, const char *format, ...)
{
    if (!err)
        return -1;
    char prefix[ERR_TEXT_MAX / 2];
    char whole[ERR_TEXT_MAX * 2];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(prefix, sizeof prefix, format, ap);
    va_end(ap);
    (void)snprintf(whole, sizeof whole, "%s: %s", prefix, err->text);
    (void)snprintf(err->text, sizeof err->text, "%.*s", ERR_TEXT_MAX - 1, whole);
    return err->code;
}
