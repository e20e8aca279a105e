/* retry.c: waiting times after failures. */
#include "engine/retry.h"

#include <errno.h>

#define RETRY_MAX_S 60 /* ... up to this */

instant_s retry_doubled_s(instant_s first, instant_s most, unsigned failures)
{
    for (unsigned i = 1; i < failures && first < most; i++)
        first *= 2;
    return first < most ? first : most;
}

instant_s retry_wait_s(unsigned failures)
{
    return retry_doubled_s(RETRY_FIRST_S, RETRY_MAX_S, failures);
}

instant_s retry_wait_after_s(int code, unsigned failures)
{
    return code == -EACCES ? RETRY_MAX_S : retry_wait_s(failures);
}

bool retry_is_transient(int code)
{
    switch (code) {
    case -ETIMEDOUT:
    case -ECONNREFUSED:
    case -ECONNRESET:
    case -ECONNABORTED:
    case -ENOTCONN:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
    case -ENETDOWN:
    case -EPIPE:
    case -EAGAIN:
    case -EINTR:
    case -EBUSY:
    case -EPROTO:
    case -ECANCELED:
        return true;
    default:
        return false;
    }
}

bool retry_blames_peer(int code)
{
    switch (code) {
    case -EACCES: /* the account */
    case -ENOENT: /* the VM was deleted, or the task is no longer known */
    case -ESTALE: /* the VM has moved by itself */
    case -ESRCH:  /* no peer was asked */
    case -ENOMEM: /* our own */
    case -EINVAL:
        return false;
    default:
        return !retry_is_transient(code);
    }
}
