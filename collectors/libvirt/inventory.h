/* inventory.h: the looks at all hosts put together as one inventory. Pure: it calls no
 * host, so that tests can give it any looks. */
#ifndef BALLAST_COLLECTORS_LIBVIRT_INVENTORY_H
#define BALLAST_COLLECTORS_LIBVIRT_INVENTORY_H

#include "collectors/libvirt/host_look.h"
#include "collectors/libvirt/libvirt_settings.h"

struct libvirt_seen_host {
    const struct libvirt_host_settings *settings;
    const struct host_look *look;   /* the last good one; NULL: it has never answered */
    const struct host_look *before; /* the good one before that; NULL: there is none */
    bool answered;                  /* that look is of now */
    const char *why;                /* it did not, a sentence, "NAME: no answer within 10 s" */
    const char
        *rejected; /* why it counts as disconnected although it answered, a sentence; NULL: it does not */
};

/* What an admin should know, each a whole sentence. */
struct libvirt_faults {
    const char **items;
    size_t n, cap;
};

/* Fills *ret. Strings go into a, or are those of the settings; none point into the looks. Sets rejected. */
void libvirt_inventory(struct libvirt_seen_host *hosts, size_t n, const struct libvirt_settings *settings,
                       struct arena *a, struct inventory *ret, struct libvirt_faults *faults);

/* Inside: what hosts offer, what a domain needs, and why it stays. */
void libvirt_compatibility_offers(const struct libvirt_seen_host *h, const struct libvirt_settings *settings,
                                  struct arena *a, struct host_facts *to);
void libvirt_compatibility_needs(const struct libvirt_seen_host *h, const struct domain_look *d,
                                 const struct libvirt_settings *settings, struct arena *a,
                                 struct vm_facts *to);
/* The hosts whose QEMU has the domain's kind of machine, where some are known not to have it. */
void libvirt_compatibility_hosts(const struct libvirt_seen_host *hosts, size_t n, const struct domain_look *d,
                                 struct arena *a, struct seen_vm *to);

#endif
