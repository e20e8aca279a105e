/* words.h: why a host was refused, in the sentences of oVirt's engine. */
#ifndef BALLAST_DIALECT_OVIRT_WORDS_H
#define BALLAST_DIALECT_OVIRT_WORDS_H

#include <ballast/finding.h>
#include <ballast/snapshot.h>

/* Why a filter of a snapshot that ovirt_compile() has made refuses the host to the VM, as the engine says it
 * after "because"; NULL: the engine gives no reason. limit: the right side of the comparison that decides,
 * UNKNOWN without one. The text is in the arena, or a constant. */
const char *ovirt_words(const struct snapshot *s, const struct refusal *why, uint32_t vm, uint32_t host,
                        double limit, struct arena *a);

#endif
