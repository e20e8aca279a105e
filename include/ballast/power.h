/* power.h: the contract of a power method, which switches a single host from outside: by its management
 * controller (IPMI, Redfish) or by a packet that wakes it (Wake-on-LAN).
 *
 * A method knows one host and one way to reach it. It decides nothing, keeps no state that a restart would
 * lose, and proves nothing: a chassis that says "on" is not a host that is back; only the cluster's own
 * inventory tells that. The configuration (`power.hosts.NAME`) lists a host's methods and their sequence;
 * actuators/power puts them in front of the hypervisor's own actuator.
 *
 * Calls block, on worker threads, for at most power_host.timeout_s each, retries included; one object is
 * used by one thread at a time, and kept between calls, so that it may keep a session. Controllers can hang,
 * lie, answer late or answer garbage: each is an error with one whole sentence that names the host, the
 * method and the fault, without secrets.
 *
 *   -EACCES     the login is refused: user, password or key is wrong, or the privilege is not given.
 *               The caller sends the same password again only after a pause
 *   -EPERM      the login is right, and its privilege is too low for this; cut() is not configured; or
 *               another machine answers than the one that was identified
 *   -ENOTSUP    the controller does not offer it (cipher suite, command, meter): do not ask again
 *   -ETIMEDOUT, -ECONNREFUSED, -EHOSTUNREACH, ...   no answer: unknown whether the controller acted
 *   -EPROTO     the answer is invalid
 *   -EBUSY      the controller says that it cannot do that now
 */
#ifndef BALLAST_POWER_H
#define BALLAST_POWER_H

#include <ballast/err.h>
#include <ballast/field.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum power_method_kind { POWER_HYPERVISOR, POWER_IPMI, POWER_REDFISH, POWER_WOL, POWER_METHOD_COUNT };

/* How to reach a host, by the configuration; settings that are not given are NULL. Secrets are read from
 * files and never part of an error. */
struct power_host {
    const char *name;                       /* the host's id or name at the source */
    const enum power_method_kind *sequence; /* tried in this order */
    size_t n_sequence;                      /* each at most once */
    unsigned timeout_s;                     /* for one call of a method */
    bool hard_off;                          /* whether power may be cut after a failed soft shutdown */
    const atomic_bool *stop;                /* the service is going down: return early. NULL: never */
    uint64_t
        settings[POWER_METHOD_COUNT]; /* by method: tells its settings from others, also after a restart;
                                         what stands in files of secrets is no part of it. 0: not known */
    uint64_t all_settings; /* tells all of this from others, secrets included; never stored. 0: not known */
    struct {
        const char *address; /* host, host:port or [address]:port; NULL: the host has none */
        const char *username, *password_file, *password;
        const char *k_g_file, *k_g; /* the key that some controllers want beside the password; NULL: none */
        unsigned cipher_suite;
        const char *const *workarounds; /* FreeIPMI's names; NULL at the end; never NULL itself */
        const char *privilege;          /* user, operator or admin */
        bool console;                   /* capture the serial console while the host wakes */
    } ipmi;
    struct {
        const char *url; /* https://HOST[:PORT]; NULL: the host has none */
        const char *username, *password_file, *password;
        const char *ca_file; /* NULL: the system's */
        bool tls_verify;
        const char *system; /* the id below /redfish/v1/Systems; NULL: the only one there */
        bool power_button;  /* its push may stand in for a missing On or GracefulShutdown */
    } redfish;
    struct {
        const char *mac;                      /* "02:00:00:00:00:01"; NULL: the host has none */
        const char *secureon_file, *secureon; /* six bytes like a MAC, or NULL */
        const char *interface;                /* raw Ethernet frames leave here; NULL: UDP only */
        const char *broadcast;                /* UDP: the address to send to; NULL: none */
        unsigned port;                        /* UDP: 9 */
        const char *relay;     /* USER@HOST[:PORT], reached by ssh, that sends in our stead; NULL: we do */
        const char *relay_key; /* file with the private key for that; NULL: ssh's own choice */
    } wol;
};

/* What the configuration says of a method below `power.hosts.NAME:`. Each declares its own in its keys.c;
 * offsets are in struct power_host. What is FIELD_REQUIRED makes it one of the host's methods: without it the
 * method's section is a mistake, but for that of the defaults. */
struct power_keys {
    enum power_method_kind kind;
    const char *section; /* "ipmi"; its keys are "ipmi.address", ... */
    struct schema keys;
};

enum chassis { CHASSIS_UNKNOWN, CHASSIS_OFF, CHASSIS_ON };

#define POWER_CAN_WAKE (1u << 0)
#define POWER_CAN_SHUT_DOWN (1u << 1) /* softly: the operating system is asked */
#define POWER_CAN_CUT (1u << 2)       /* hard: power goes at once */
#define POWER_CAN_TELL (1u << 3)      /* chassis() */
#define POWER_CAN_MEASURE (1u << 4)   /* watts(): may still be -ENOTSUP at this controller */
#define POWER_CAN_IDENTIFY (1u << 5)  /* identify() */

/* How often the draw of a host is read; a figure that is older than two of these is about another time. */
#define POWER_METER_PERIOD_S 60

#define CONTROLLER_UUID_MAX 37
#define CONTROLLER_MARK_MAX 96

/* Which machine a controller belongs to, and which controller it is, by its own words. */
struct controller_identity {
    char uuid[CONTROLLER_UUID_MAX]; /* the machine's, as reported, in any order of bytes (IPMI's Get System
                                       GUID, Redfish's ComputerSystem.UUID); "": it offers none. A vendor's
                                       placeholder is reported, too: base/hardware_uuid.h knows them */
    char mark[CONTROLLER_MARK_MAX]; /* what else distinguishes it from other controllers, such as "serial
                                       CZJ1234" or "MAC 00:25:90:12:34:56": printable, never a secret; "":
                                       nothing */
};

struct power_method; /* each defines its own */

struct power_method_ops {
    enum power_method_kind kind;
    unsigned can; /* POWER_CAN_*; the functions that it lacks are NULL */

    /* Checks the configuration, and touches no network. host stays valid until destroy(). */
    int (*create)(const struct power_host *host, struct power_method **ret, struct err *err);

    /* Reads the chassis' state; never returns 0 with CHASSIS_UNKNOWN. */
    int (*chassis)(struct power_method *m, enum chassis *ret, struct err *err);

    /* Sends the request, and returns when the controller has accepted it. Repeating does no harm: a host
     * that is on stays on, one that is off stays off. cut() is -EPERM while power_host.hard_off is not
     * set.
     * only: what identify() reported a moment ago. The controller is asked again right before the request, in
     * the same session; -EPERM, with nothing sent, if another machine answers at the address now. NULL: not
     * compared.
     * wake() is -ESTALE where the controller said before any request that the host is on: what brings the
     * host back is not this call. */
    int (*wake)(struct power_method *m, struct err *err);
    int (*shut_down)(struct power_method *m, const struct controller_identity *only, struct err *err);
    int (*cut)(struct power_method *m, const struct controller_identity *only, struct err *err);

    /* The host's current draw in watts, finite and not negative. */
    int (*watts)(struct power_method *m, double *ret, struct err *err);

    /* Reads the controller's identity. A controller that offers none is no error: both texts are "". */
    int (*identify)(struct power_method *m, struct controller_identity *ret, struct err *err);

    void (*destroy)(struct power_method *m); /* NULL is fine */
};

#endif
