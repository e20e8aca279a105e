/* problem.h: errors as problem documents (RFC 9457), each kind with a URI and a status of its own. */
#ifndef BALLAST_HTTP_PROBLEM_H
#define BALLAST_HTTP_PROBLEM_H

#include "base/strbuf.h"

#include <ballast/err.h>

#define PROBLEM_TYPE "application/problem+json"

/* The last part of the type's URI ("/problems/NAME"), the status, the title. */
#define PROBLEMS(X)                                                                                          \
    X(PROBLEM_REQUEST, "invalid-request", 400, "The request is wrong")                                       \
    X(PROBLEM_UNAUTHORIZED, "unauthorized", 401, "A valid token is needed")                                  \
    X(PROBLEM_FORBIDDEN, "forbidden", 403, "The role does not allow this")                                   \
    X(PROBLEM_NOT_FOUND, "not-found", 404, "There is nothing at this path")                                  \
    X(PROBLEM_METHOD, "method-not-allowed", 405, "The path has other methods")                               \
    X(PROBLEM_CONFLICT, "conflict", 409, "It cannot be done now")                                            \
    X(PROBLEM_TOO_LARGE, "too-large", 413, "The body is too large")                                          \
    X(PROBLEM_MEDIA_TYPE, "unsupported-media-type", 415, "The body is not JSON")                             \
    X(PROBLEM_MISDIRECTED, "misdirected", 421, "The host name is not this service's")                        \
    X(PROBLEM_UNCONFIRMED, "unconfirmed", 428, "It has to be confirmed")                                     \
    X(PROBLEM_ATTEMPTS, "too-many-attempts", 429, "Too many requests without a valid token")                 \
    X(PROBLEM_INTERNAL, "internal", 500, "The service has failed")                                           \
    X(PROBLEM_OVERLOADED, "overloaded", 503, "The service is overloaded, or not ready yet")

#define PROBLEM_ENUM(e, name, status, title) e,
enum problem { PROBLEMS(PROBLEM_ENUM) problem_count };

unsigned problem_status(enum problem p);
const char *problem_title(enum problem p);

/* What an error of the service is. */
enum problem problem_of(const struct err *err);

/* Writes the document; detail is a sentence for a person. */
void problem_write(enum problem p, const char *detail, struct strbuf *out);

#endif
