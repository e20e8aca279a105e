/* identity.c: whether a host's controllers belong to the host's machine. It reads and compares; it asks no
 * controller to change anything. */
#include "actuators/power/internal.h"

#include "base/hardware_uuid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SEPARATOR "; "
#define ONE_MAX 256 /* one controller's part of identity_report.is */

/* A UUID that names one machine. */
static bool names_machine(const char *text, struct hardware_uuid *ret)
{
    return hardware_uuid_parse(text, ret) == 0 && !hardware_uuid_is_placeholder(ret);
}

static const char *address_of(const struct power_host *h, enum power_method_kind kind)
{
    const char *address = kind == POWER_IPMI      ? h->ipmi.address
                          : kind == POWER_REDFISH ? h->redfish.url
                                                  : NULL;

    return address ? address : "?";
}

/* What a person confirms: what the controller says of itself, and where it is, because firmware without a
 * UUID often reports the same serial number ("To be filled by O.E.M.") for every machine. */
static void describe(const struct power_change *j, unsigned index, const struct controller_identity *is,
                     char ret[ONE_MAX])
{
    const enum power_method_kind kind = j->sequence[index];

    (void)snprintf(ret, ONE_MAX, "%s%s%s%s%s at %.100s", method_word(j, index), is->uuid[0] ? " " : "",
                   is->uuid, is->mark[0] ? " " : "", is->mark, address_of(j->host, kind));
    for (char *c = ret; *c; c++)
        *c = (char)(*c == ';' ? ',' : *c);
}

/* Whether the list of confirmed controllers has this one. */
static bool is_confirmed(const char *list, const char *one)
{
    const size_t len = strlen(one);

    while (list && *list) {
        const char *end = strstr(list, SEPARATOR);
        size_t n = end ? (size_t)(end - list) : strlen(list);

        if (n == len && memcmp(list, one, len) == 0)
            return true;
        list = end ? end + strlen(SEPARATOR) : NULL;
    }
    return false;
}

static enum identity_verdict compare(const struct power_change *j, unsigned index,
                                     const struct machine_identity *machine,
                                     const struct controller_identity *is, const char *described,
                                     struct err *err)
{
    const char *name = j->host->name;
    const char *word = method_word(j, index);
    struct hardware_uuid of_controller;
    struct hardware_uuid of_host;
    bool controller_known = names_machine(is->uuid, &of_controller);
    bool host_known = names_machine(machine->hardware_uuid, &of_host);

    if (controller_known && host_known && hardware_uuid_same(&of_controller, &of_host))
        return IDENTITY_MATCHES;
    if (is_confirmed(machine->confirmed, described))
        return IDENTITY_CONFIRMED;
    if (controller_known && host_known) {
        (void)err_set(
            err, -EPERM,
            "the controller of host %s (%s at %.100s) belongs to machine %s, but the hypervisor says "
            "that the host is machine %s: correct its address, or `ballast confirm-controller %s` "
            "if it is the host's own all the same",
            name, word, address_of(j->host, j->sequence[index]), is->uuid, machine->hardware_uuid, name);
        return IDENTITY_DIFFERS;
    }
    (void)err_set(err, -EPERM,
                  "it cannot be verified that the controller at %.100s (%s) is that of host %s: %s; "
                  "`ballast confirm-controller %s` confirms once that it is",
                  address_of(j->host, j->sequence[index]), word, name,
                  controller_known ? "the hypervisor reports no hardware UUID of this host alone"
                  : is->uuid[0]    ? "the controller reports a placeholder as UUID"
                                   : "the controller reports no UUID",
                  name);
    return IDENTITY_UNKNOWN;
}

static int examine(const struct power_change *j, unsigned index, const struct machine_identity *machine,
                   struct controller_identity *is, char described[ONE_MAX], enum identity_verdict *ret,
                   struct err *err)
{
    int r = method_identify(j, index, is, err);

    if (r < 0)
        return r;
    describe(j, index, is, described);
    *ret = compare(j, index, machine, is, described, err);
    return 0;
}

static bool holds_back(enum identity_verdict verdict)
{
    return verdict == IDENTITY_UNKNOWN || verdict == IDENTITY_DIFFERS;
}

int power_identity_check(const struct power_change *j, unsigned index, struct controller_identity *ret,
                         struct err *err)
{
    enum identity_verdict verdict = IDENTITY_UNKNOWN;
    char described[ONE_MAX];

    *ret = (struct controller_identity){0};
    if (!method_can(j, index, POWER_CAN_IDENTIFY))
        return 0;
    int r = examine(j, index, &j->q->power.machine, ret, described, &verdict, err);

    return r < 0 ? r : holds_back(verdict) ? -EPERM : 0;
}

int power_identity_check_all(const struct power_change *j, struct err *err)
{
    for (unsigned i = 0; i < j->host->n_sequence; i++) {
        struct controller_identity is;
        struct err why = {0};
        int r = power_identity_check(j, i, &is, &why);

        if (r != -EPERM && r != -ECANCELED) /* whether enough of them answer is checked by the caller */
            continue;
        *err = why;
        return r;
    }
    return 0;
}

/* Adds one controller to the list. What does not fit is left out, and so will never be taken for confirmed.
 */
static void add(char list[IDENTITY_TEXT_MAX], const char *one)
{
    size_t len = strlen(list);

    if (len + strlen(SEPARATOR) + strlen(one) < IDENTITY_TEXT_MAX)
        (void)snprintf(list + len, IDENTITY_TEXT_MAX - len, "%s%s", len ? SEPARATOR : "", one);
}

int power_identity_report(const struct power_change *j, const struct machine_identity *machine,
                          struct identity_report *ret, struct err *err)
{
    struct err deaf = {0};
    unsigned able = 0;
    unsigned answered = 0;

    *ret = (struct identity_report){.verdict = IDENTITY_MATCHES};
    for (unsigned i = 0; i < j->host->n_sequence; i++) {
        enum identity_verdict verdict = IDENTITY_UNKNOWN;
        struct controller_identity is;
        char described[ONE_MAX];
        struct err why = {0};

        if (!method_can(j, i, POWER_CAN_IDENTIFY))
            continue;
        able++;
        if (examine(j, i, machine, &is, described, &verdict, &why) < 0) {
            deaf = deaf.code ? deaf : why;
            continue;
        }
        answered++;
        add(ret->is, described);
        if (verdict > ret->verdict) {
            ret->verdict = verdict;
            ret->why = why;
        }
    }
    if (able == 0)
        return err_set(err, -ENOTSUP, "host %s has no controller that could tell which machine it belongs to",
                       j->host->name);
    if (answered == 0) {
        *err = deaf;
        return deaf.code;
    }
    if (!holds_back(ret->verdict))
        ret->why = deaf;
    return 0;
}
