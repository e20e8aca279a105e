/* form.h: a field of an HTML form (application/x-www-form-urlencoded; WHATWG URL Standard, section 5.1). */
#ifndef BALLAST_HTTP_FORM_H
#define BALLAST_HTTP_FORM_H

#include <stddef.h>

#define FORM_TYPE "application/x-www-form-urlencoded"

/* The field of a body of len bytes, decoded. -ENOENT: there is none; -EINVAL: it is there twice, does not
 * fit, or has an escape that is none, a control character or a NUL. */
int form_field(const char *body, size_t len, const char *name, char *ret, size_t size);

#endif
