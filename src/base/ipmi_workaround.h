/* ipmi_workaround.h: the names of workarounds for controllers that violate the IPMI specification.
 *
 * The names are FreeIPMI's, of the option -W of its tools (ipmipower(8), ipmiconsole(8), WORKAROUNDS), as far
 * as they apply to IPMI 2.0 sessions and serial-over-LAN. The flags behind them are actuators/ipmi's.
 */
#ifndef BALLAST_BASE_IPMI_WORKAROUND_H
#define BALLAST_BASE_IPMI_WORKAROUND_H

#include <stdbool.h>

#define IPMI_WORKAROUNDS(X)                                                                                  \
    X(authcap)                                                                                               \
    X(intel20)                                                                                               \
    X(supermicro20)                                                                                          \
    X(sun20)                                                                                                 \
    X(opensesspriv)                                                                                          \
    X(integritycheckvalue)                                                                                   \
    X(nochecksumcheck)                                                                                       \
    X(serialalertsdeferred)                                                                                  \
    X(solpacketseq)                                                                                          \
    X(solpayloadsize)                                                                                        \
    X(solport)                                                                                               \
    X(solstatus)                                                                                             \
    X(solchannelsupport)

enum ipmi_workaround {
#define X(name) IPMI_WORKAROUND_##name,
    IPMI_WORKAROUNDS(X)
#undef X
        IPMI_WORKAROUND_COUNT
};

/* IPMI_WORKAROUND_COUNT: no such name. */
enum ipmi_workaround ipmi_workaround_find(const char *name);

bool ipmi_workaround_known(const char *name);

/* All of them, for a message: "authcap, intel20, ...". */
const char *ipmi_workaround_names(void);

#endif
