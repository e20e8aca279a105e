/* ipmi_workaround.c: finds the names of IPMI workarounds. What each does is actuators/ipmi's. */
#include "base/ipmi_workaround.h"

#include <string.h>

static const char *const names[IPMI_WORKAROUND_COUNT] = {
#define X(name) [IPMI_WORKAROUND_##name] = #name,
    IPMI_WORKAROUNDS(X)
#undef X
};

#define X(name) ", " #name
static const char all[] = IPMI_WORKAROUNDS(X);
#undef X

const char *ipmi_workaround_names(void)
{
    return all + sizeof ", " - 1;
}

enum ipmi_workaround ipmi_workaround_find(const char *name)
{
    unsigned i = 0;

    while (i < IPMI_WORKAROUND_COUNT && strcmp(names[i], name) != 0)
        i++;
    return (enum ipmi_workaround)i;
}

bool ipmi_workaround_known(const char *name)
{
    return ipmi_workaround_find(name) != IPMI_WORKAROUND_COUNT;
}
