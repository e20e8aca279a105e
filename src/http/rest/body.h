/* body.h: a request's body, in oVirt's XML or JSON, to the neutral form (elements.h).
 *
 * Unknown members are ignored, as are links and actions. JSON may have numbers and truths as texts. A filter,
 * weight or balance, or a <base_resource>, may be a bare id of its unit: the neutral form has both. Version 3
 * is read into the words of version 4: a cluster's policy, thresholds and properties become
 * `custom_scheduling_policy_properties`. */
#ifndef BALLAST_HTTP_REST_BODY_H
#define BALLAST_HTTP_REST_BODY_H

#include "http/rest/elements.h"
#include "http/rest/write.h"

#include <ballast/err.h>

/* The caller releases *ret; an empty body is an empty object. -EINVAL with a sentence: no XML or JSON, XML
 * with a root of another name, a member of a wrong form, or too long (REQUEST_BYTES_MAX). */
int rest_read(enum rest_kind kind, enum rest_format format, unsigned version, const char *text, size_t len,
              json_t **ret, struct err *err);

#endif
