/* guest_balloon.h: tells the hypervisor how much memory the lab's guest uses, over its virtio memory balloon;
 * gives none back.
 *
 * Virtual I/O Device (VIRTIO) 1.1, sections 4.1.4.8 (legacy interface over PCI) and 5.5.6.3 (memory
 * statistics). */
#ifndef BALLAST_LAB_GUEST_BALLOON_H
#define BALLAST_LAB_GUEST_BALLOON_H

#include "guest_io.h"

/* Looks for the balloon on the PCI bus. A guest without one says nothing from then on. */
void guest_balloon_start(void);

/* Answers when the hypervisor has asked; in bytes. */
void guest_balloon_tell(u32 total, u32 used);

#endif
