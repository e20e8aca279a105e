/* vsphere.h: the collector of a vCenter's cluster, by its SOAP API (`source: kind: vsphere`). See
 * README.md.
 */
#ifndef BALLAST_COLLECTORS_VSPHERE_H
#define BALLAST_COLLECTORS_VSPHERE_H

#include <ballast/plugin.h>

/* Where demand comes from. */
enum vsphere_stats {
    VSPHERE_STATS_AUTO, /* counters; quick stats of what has none */
    VSPHERE_STATS_COUNTERS,
    VSPHERE_STATS_QUICK,
};

/* Its own keys of the configuration. */
struct vsphere_settings {
    enum vsphere_stats stats;
};

extern const struct source_kind vsphere_source;
extern const struct collector_ops vsphere_collector;
extern const struct plugin vsphere_plugin;

#endif
