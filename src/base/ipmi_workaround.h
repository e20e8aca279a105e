/* ipmi_workaround.h: the names of what is done differently for controllers that do not keep to IPMI's rules.
 *
 * The names are FreeIPMI's, those of its tools' option -W (ipmipower(8), ipmiconsole(8), WORKAROUNDS); only
 * what applies to IPMI 2.0 sessions and serial-over-LAN is here. The flags behind them are actuators/ipmi's.
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

/* IPMI_WORKAROUND_COUNT for a name that there is not. */
enum ipmi_workaround ipmi_workaround_find(const char *name);

bool ipmi_workaround_known(const char *name);

/* All of them, for a message: "authcap, intel20, ...". */
const char *ipmi_workaround_names(void);

#endif
