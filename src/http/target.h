/* target.h: what a request is for: the path and the parameters behind the "?", taken apart strictly.
 *
 * A path is taken apart before its escapes are decoded, so "%2F" is a part of an id, and never a separator.
 * Refused, because they have no meaning here or two: empty segments ("//", or a "/" at the end), "." and
 * "..", escaped or not; NUL and other control characters; bytes that are no UTF-8; a parameter given twice.
 */
#ifndef BALLAST_HTTP_TARGET_H
#define BALLAST_HTTP_TARGET_H

#include <ballast/err.h>

#include <stddef.h>

#define TARGET_BYTES_MAX 8192
#define TARGET_SEGMENTS_MAX 12
#define TARGET_PARAMETERS_MAX 16

struct target {
    const char *segments[TARGET_SEGMENTS_MAX]; /* decoded */
    size_t n_segments;
    struct {
        const char *name, *value;
    } parameters[TARGET_PARAMETERS_MAX]; /* decoded; "+" is a plus */
    size_t n_parameters;
    char *text; /* holds them */
};

/* raw: as in the request line. -EINVAL and a sentence. Release it in either case. */
int target_parse(const char *raw, struct target *ret, struct err *err);
void target_release(struct target *t);

/* NULL: not given. */
const char *target_parameter(const struct target *t, const char *name);

/* "web 7/a" as a part of a target: "web%207%2Fa". At most size - 1 bytes; -ENOSPC: longer. */
int target_escape(const char *text, size_t len, char *ret, size_t size);

#endif
