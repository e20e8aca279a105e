/* answer.h: parses controllers' answers.
 *
 * Pure functions on untrusted bytes: every length is checked, and no state is kept. An error is a code of
 * power.h and half a sentence ("it says that it is busy (C0h)"); the caller adds the host and the request.
 * An answer is what IPMI calls the response data, preceded by the command: command, completion code, data
 * (IPMI 2.0, 5.2).
 */
#ifndef BALLAST_IPMI_ANSWER_H
#define BALLAST_IPMI_ANSWER_H

#include <ballast/err.h>
#include <ballast/power.h>

#include "base/hardware_uuid.h"
#include "base/mac.h"

#include <stddef.h>
#include <stdint.h>

#define IPMI_ANSWER_MAX 256

/* 0: the controller accepted the command; else the error of its completion code. command: the one that was
 * sent. */
int ipmi_answer_done(const uint8_t *rs, size_t n, uint8_t command, struct err *err);

/* Parses Get Chassis Status (28.2). */
int ipmi_answer_chassis(const uint8_t *rs, size_t n, enum chassis *ret, struct err *err);

/* Parses DCMI's Get Power Reading (DCMI 1.5, 6.6.1): the current draw. -EBUSY: the controller does not
 * measure now. */
int ipmi_answer_watts(const uint8_t *rs, size_t n, double *ret, struct err *err);

/* Parses Get System GUID (22.14): 16 bytes in the order in which they came. Controllers use all orders: table
 * 20-10's, SMBIOS's and RFC 4122's. */
int ipmi_answer_guid(const uint8_t *rs, size_t n, struct hardware_uuid *ret, struct err *err);

/* Parses Get LAN Configuration Parameters (23.2) for parameter 5, the controller's own MAC address. */
int ipmi_answer_mac(const uint8_t *rs, size_t n, struct mac *ret, struct err *err);

/* The message that every controller answers outside of a session: Get Channel Authentication Capabilities
 * (22.13), in RMCP and in IPMI 1.5's clothes (13.6). seq, 0 ... 63, comes back in the answer. */
#define IPMI_PING_LEN 23
void ipmi_ping_write(uint8_t seq, uint8_t to[IPMI_PING_LEN]);

struct ipmi_ping {
    uint8_t seq;
    bool speaks_2_0; /* RMCP+ sessions */
    bool wants_k_g;  /* a key beside the password is set */
};

/* Parses the answering packet. any_sum: accepts wrong checksums (the workaround nochecksumcheck). -EPROTO:
 * the packet is not IPMI, or answers another request. */
int ipmi_ping_read(const uint8_t *packet, size_t n, bool any_sum, struct ipmi_ping *ret, struct err *err);

/* RMCP+ Open Session Request and its answer (13.17, 13.18). Ballast sends the request itself only to learn
 * why a session is refused. algorithms: authentication, integrity, confidentiality (13.28). */
#define IPMI_OPENING_LEN 48
void ipmi_opening_write(uint8_t tag, const uint8_t algorithms[3], uint8_t to[IPMI_OPENING_LEN]);

/* The controller's status code (13.24): 0, or the reason of the refusal. -EAGAIN: another packet. */
int ipmi_opening_read(const uint8_t *packet, size_t n, uint8_t tag, struct err *err);

#endif
