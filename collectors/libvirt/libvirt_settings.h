/* libvirt_settings.h: plain KVM hosts, each with a libvirt of its own: what `source: kind: libvirt` is. */
#ifndef BALLAST_COLLECTORS_LIBVIRT_LIBVIRT_SETTINGS_H
#define BALLAST_COLLECTORS_LIBVIRT_LIBVIRT_SETTINGS_H

#include "net/libvirt/settings.h"

#include <ballast/plugin.h>

extern const struct source_kind libvirt_source;
extern const struct collector_ops libvirt_collector;
extern const struct plugin libvirt_plugin;

#endif
