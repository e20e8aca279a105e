/* plugin.h: a kind of source: its collector and its actuator. src/plugins lists all kinds. */
#ifndef BALLAST_PLUGIN_H
#define BALLAST_PLUGIN_H

#include <ballast/actuator.h>
#include <ballast/collector.h>

struct plugin {
    const struct collector_ops *collector; /* its kind is the word after `source: kind:` */
    const struct actuator_ops *actuator;   /* NULL: the source is read-only */

    /* State that the collector and the actuators of one source share: opened before the first of them is
     * created, passed in their cfg->shared, and closed after the last. NULL: none. */
    int (*open)(const struct source_config *cfg, void **ret_shared, struct err *err);
    void (*close)(void *shared);
};

#endif
