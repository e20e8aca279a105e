/* utf8.h: tells valid UTF-8 from other bytes, and what may be shown from what would mislead a reader.
 *
 * Names of VMs are whatever their owners have typed. Every writer for people (terminal, log, page, mail, CSV)
 * and of JSON asks utf8_step() about each character. */
#ifndef BALLAST_BASE_UTF8_H
#define BALLAST_BASE_UTF8_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_BYTES_MAX 4
#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, in place of a byte that is no UTF-8 */

/* Length of the UTF-8 character at s, a text that a NUL ends; 0: none. Overlong forms, surrogates and values
 * beyond the last code point are none. */
size_t utf8_length(const unsigned char *s);

/* The code point of the valid character of this length at s. */
uint32_t utf8_code_point(const unsigned char *s, size_t len);

/* The length of what stands at s, a character or a byte that is no UTF-8, and whether it may be shown:
 * neither controls (C0, DEL, C1), nor line separators, nor marks that change the direction of writing, nor
 * characters without a width, which make two names look like one, may. */
size_t utf8_step(const unsigned char *s, bool *ret_safe);

/* Adds so many bytes of a JSON text whose strings may have such characters: these as \uXXXX. */
void utf8_put_json(struct strbuf *out, const char *text, size_t len);

#endif
