/* hardware_uuid.h: the UUID of a machine's firmware, as a hypervisor and a management controller report it.
 *
 * The two need not agree in the order of the bytes. RFC 4122 has the first three fields with the highest byte
 * first; SMBIOS 2.6 and later (7.2.1) has them with the lowest byte first; IPMI 2.0 (table 20-10) has all 16
 * bytes the other way round. Controllers use all three, and some hypervisors the first two, so two texts name
 * the same machine if one is the other in any of these orders. Two different machines do not become equal by
 * this: their UUIDs would have to be each other's permutation.
 */
#ifndef BALLAST_BASE_HARDWARE_UUID_H
#define BALLAST_BASE_HARDWARE_UUID_H

#include <stdbool.h>
#include <stdint.h>

#define HARDWARE_UUID_BYTES 16
#define HARDWARE_UUID_TEXT 37 /* "4c4c4544-0042-5110-8036-b6c04f593132", with the end */

struct hardware_uuid {
    uint8_t byte[HARDWARE_UUID_BYTES]; /* in the order in which they were reported */
};

/* Accepts 32 hexadecimal digits, with hyphens anywhere between bytes and in braces or not. -EINVAL: any other
 * text; NULL. */
int hardware_uuid_parse(const char *text, struct hardware_uuid *ret);
/* Lower case, in the bytes' order. */
void hardware_uuid_print(const struct hardware_uuid *u, char ret[HARDWARE_UUID_TEXT]);

/* Whether it names no single machine: all bytes equal (zero, FFh), bytes that only count up or down, or one
 * of those that vendors left in the firmware of whole series. */
bool hardware_uuid_is_placeholder(const struct hardware_uuid *u);
/* Whether they are the same in any of the orders above. */
bool hardware_uuid_same(const struct hardware_uuid *a, const struct hardware_uuid *b);

#endif
