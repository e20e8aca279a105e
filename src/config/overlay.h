/* overlay.h: reads `rules:`, `pools:`, `groups:`, `pipelines:`, `ha:`, `vms:` and `hosts:` into the struct of
 * ../overlay. Inside config only. */
#ifndef BALLAST_CONFIG_OVERLAY_H
#define BALLAST_CONFIG_OVERLAY_H

#include "config/section.h"

/* Fills config->overlay. -EINVAL with the line. */
int config_read_overlay(const struct section *s);

#endif
