/* settings.h: the configuration of plain KVM hosts (`source: kind: libvirt`), and what collector and actuator
 * of one source share. */
#ifndef BALLAST_NET_LIBVIRT_SETTINGS_H
#define BALLAST_NET_LIBVIRT_SETTINGS_H

#include <ballast/field.h>

#include <stdbool.h>
#include <stdint.h>

/* An entry of `source: hosts:`. */
struct libvirt_host_settings {
    const char *name; /* the id of the host */
    const char *uri;
    const char *peer_uri;      /* where the other hosts reach its libvirt; NULL: at uri */
    const char *migration_uri; /* where their QEMU sends memory to: tcp://ADDRESS; NULL: libvirt decides */
    double cpu_mhz, mem_mb;    /* instead of what the host says; UNKNOWN: none */
};

enum libvirt_migration_mode {
    LIBVIRT_MIGRATION_P2P,     /* the source's libvirt drives it, and goes on when this process ends */
    LIBVIRT_MIGRATION_MANAGED, /* this process drives it; libvirt cancels it when this process ends */
};

/* Disks that are not on shared storage. libvirt copies them before the memory. */
enum libvirt_copy {
    LIBVIRT_COPY_NO,          /* the VM stays where it is */
    LIBVIRT_COPY_FULL,        /* with all that they are based on */
    LIBVIRT_COPY_INCREMENTAL, /* what they are based on is at the destination already */
};

/* How a VM is migrated. */
struct libvirt_migration {
    enum libvirt_migration_mode mode;
    bool tls;           /* the memory is sent encrypted */
    bool auto_converge; /* the guest is slowed down while it writes faster than can be copied */
    bool post_copy;     /* after timeout_s it runs on the destination with the memory that is there */
    enum libvirt_copy copy_storage;
    uint32_t bandwidth_mbs; /* MiB/s; 0: no limit */
    uint32_t connections;   /* that send memory side by side */
    uint32_t timeout_s;     /* of copying, then it is cancelled, or post-copy begins; 0: the engine's limit */
};

/* An entry of `source: migrations:`: what some VMs have instead of `source: migration:`. */
struct libvirt_migration_entry {
    const char *name;
    const char *const *vms; /* patterns of names or UUIDs, NULL at the end */
    struct libvirt_migration is;
    bool mode_given, tls_given, auto_converge_given, post_copy_given, copy_storage_given, bandwidth_mbs_given,
        connections_given, timeout_s_given;
};

struct libvirt_settings {
    struct objects hosts;            /* struct libvirt_host_settings */
    const char *const *shared_paths; /* NULL at the end */
    uint32_t host_timeout_s;
    int cpu_controls; /* enum libvirt_cpu_controls */
    struct libvirt_migration migration;
    struct objects migrations; /* struct libvirt_migration_entry */
};

struct libvirt_connections;
struct migrations;

/* What a migration may have left over on a host that was silent at its end, is noted in the metadata of the
 * VM, where another process finds it:
 *
 *   <ballast:left-over xmlns:ballast="urn:ballast:left-over" task="migrate/p-/UUID/hv1/hv2"/>
 *
 * Those of further hosts are in it as <also task="..."/>. */
#define LIBVIRT_LEFT_OVER_URI "urn:ballast:left-over"
#define LIBVIRT_LEFT_OVER_PREFIX "ballast"
#define LIBVIRT_LEFT_OVER_ELEMENT "left-over"
#define LIBVIRT_LEFT_OVER_ALSO "also"

/* source_config.shared */
struct libvirt_shared {
    struct libvirt_connections *conns;
    struct migrations *migrations; /* the actuator's; actuators/libvirt/migrations.h */
    /* The collector has found such a task in the VM on this host, where it runs, or does not. */
    void (*left_over)(struct migrations *m, const char *vm, const char *host, bool runs, const char *task);
};

#endif
