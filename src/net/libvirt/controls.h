/* controls.h: the CPU controls of a domain: how Ballast counts them, and how it keeps those of the domain's
 * admin.
 *
 * A domain whose controls Ballast has set carries its admin's own ones in its metadata, in the running domain
 * and in its definition by themselves:
 *
 *   <ballast:own-controls xmlns:ballast="urn:ballast:controls" shares="2048" vcpu_quota="25000"/>
 *
 * with libvirt's own numbers; a parameter without a value is left out. So they go with it to other hosts, a
 * service that has lost its store still knows them, and a person sees what to restore. The element is there
 * exactly while the controls are Ballast's. */
#ifndef BALLAST_NET_LIBVIRT_CONTROLS_H
#define BALLAST_NET_LIBVIRT_CONTROLS_H

#define LIBVIRT_CONTROLS_URI "urn:ballast:controls"
#define LIBVIRT_CONTROLS_PREFIX "ballast"
#define LIBVIRT_CONTROLS_ELEMENT "own-controls"

/* Shares (facts.h) of a domain without a weight of its own. */
#define LIBVIRT_SHARES_NORMAL 1000.0

/* The weight of such a domain where no domain shows it: then all are set, and only their ratio matters. */
#define LIBVIRT_WEIGHT_UNKNOWN 100.0

/* Scheduler parameters of a domain that a remote libvirt gives at most; it refuses to be asked for more. */
#define LIBVIRT_SCHEDULER_PARAMS_MAX 16

/* What `source: cpu_controls:` says. */
enum libvirt_cpu_controls {
    LIBVIRT_CONTROLS_LIVE,       /* of running domains; a domain starts with its own */
    LIBVIRT_CONTROLS_PERSISTENT, /* of running domains and their definitions */
    LIBVIRT_CONTROLS_OFF,        /* none are set, and those that were are given back */
};

#endif
