/* controller_identity.c: compares two identities of a controller. It asks nothing. */
#include "base/controller_identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX (CONTROLLER_UUID_MAX + CONTROLLER_MARK_MAX + 16)

static const char *describe(const struct controller_identity *is, char to[TEXT_MAX])
{
    if (!is->uuid[0] && !is->mark[0])
        return "a controller that does not say which machine it belongs to";
    (void)snprintf(to, TEXT_MAX, "%s%s%s%s", is->uuid[0] ? "machine " : "", is->uuid,
                   is->uuid[0] && is->mark[0] ? ", " : "", is->mark);
    return to;
}

int controller_identity_same(const struct controller_identity *only, const struct controller_identity *now,
                             struct err *err)
{
    char was[TEXT_MAX], is[TEXT_MAX];

    if (!only || (strcmp(only->uuid, now->uuid) == 0 && strcmp(only->mark, now->mark) == 0))
        return 0;
    return err_set(err, -EPERM,
                   "another controller answers at the address than right before: %s, not %s. Nothing was "
                   "requested. Check whether two machines use the address, or DHCP gave it to another one",
                   describe(now, is), describe(only, was));
}
