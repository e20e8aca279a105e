/* plugin.h: a kind of source: what reads it and what acts on it, side by side. src/plugins lists them all. */
#ifndef BALLAST_PLUGIN_H
#define BALLAST_PLUGIN_H

#include <ballast/actuator.h>
#include <ballast/collector.h>

struct plugin {
    const struct collector_ops *collector; /* its kind is the word after `source: kind:` */
    const struct actuator_ops *actuator;   /* NULL: it can only be looked at */

    /* What the collector and the actuators of one source share beside its configuration: opened before the
     * first of them is created, in their cfg->shared, and closed after the last. NULL: nothing. */
    int (*open)(const struct source_config *cfg, void **ret_shared, struct err *err);
    void (*close)(void *shared);
};

#endif
