/* signature.h: signs a webhook as Standard Webhooks 1.0.0 says (standardwebhooks.com), so that the libraries
 * of receivers verify it: HMAC-SHA256 over "ID.TIMESTAMP.BODY". */
#ifndef BALLAST_ALARM_SIGNATURE_H
#define BALLAST_ALARM_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

#define ALARM_SIGNATURE_MAX 64

/* Writes "v1,BASE64". secret: whsec_BASE64, as config/alarms.c accepts it. -EINVAL: it is not one. */
int alarm_sign(const char *secret, const char *id, int64_t timestamp, const char *body, size_t len,
               char ret[ALARM_SIGNATURE_MAX]);

#endif
