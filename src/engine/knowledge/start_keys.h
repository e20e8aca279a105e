/* start_keys.h: placement keys that a VM got at its start (Flexiant, F6 and F11).
 *
 * Keys are numbers by name: hints "key.NAME" of a VM, attributes "key.NAME" of a host; where the host has
 * "sticky.NAME" too, its key is sticky, with that weight.
 *   - The keys of a VM are fixed when it starts: as long as it runs they replace its hints "key.NAME",
 *     whatever the source and the configuration say by now. They are forgotten when it is seen off.
 *   - It is given a copy of each sticky key of the host where it starts: hints "copy.NAME" (the value) and
 *     "sticky.NAME" (the weight), which it has until its next start on a host with another key of that name.
 * A VM has started when it is seen to run after it was seen off, also by an earlier process. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_START_KEYS_H
#define BALLAST_ENGINE_KNOWLEDGE_START_KEYS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops start_keys_ops;

#endif
