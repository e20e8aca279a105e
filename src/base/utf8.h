/* utf8.h: tells valid UTF-8 from other bytes, for writers of formats that allow nothing else. */
#ifndef BALLAST_BASE_UTF8_H
#define BALLAST_BASE_UTF8_H

#include <stddef.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, in place of a byte that is no UTF-8 */

/* Length of the UTF-8 character at s, a text that a NUL ends; 0: none. Overlong forms, surrogates and values
 * beyond the last code point are none. */
size_t utf8_length(const unsigned char *s);

#endif
