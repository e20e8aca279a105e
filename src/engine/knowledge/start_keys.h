/* start_keys.h: placement keys that a VM got at its start (Flexiant, F6 and F11).
 *
 * Keys are numbers by name: hints "key.NAME" of a VM, attributes "key.NAME" of a host; where the host has
 * "sticky.NAME" too, its key is sticky, with that weight.
 *   - The keys of a VM are fixed when it starts: while the VM runs, they replace its hints "key.NAME" of the
 *     source and the configuration. They are forgotten when an inventory shows the VM off.
 *   - The VM gets a copy of each sticky key of the host where it starts: hints "copy.NAME" (the value) and
 *     "sticky.NAME" (the weight). It keeps the copy until it starts on a host with another key of that name.
 * A VM has started when an inventory shows it running and the one before, also of an earlier process, showed
 * it off. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_START_KEYS_H
#define BALLAST_ENGINE_KNOWLEDGE_START_KEYS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops start_keys_ops;

#endif
