/* console_text.h: cleans the output of a serial line for display.
 *
 * A booting host writes for a terminal: colours, cursor movements, progress bars that overwrite themselves
 * and, when the line's speed changes, garbage. Shown raw, the output could control the reader's terminal. The
 * cleaned text is UTF-8 with printable characters and newlines only. */
#ifndef BALLAST_BASE_CONSOLE_TEXT_H
#define BALLAST_BASE_CONSOLE_TEXT_H

#include "base/strbuf.h"

#include <stddef.h>

/* Adds the text of n bytes to `to`:
 *   - escape sequences (ECMA-48: CSI, OSC and the like, charset selections) are left out; one that places the
 *     cursor in another row begins a new line, unless one has just begun
 *   - "\r\n" and "\n" end a line; "\r" alone takes the line back to its beginning, and what is written there
 *     replaces it: of a progress bar the last state remains
 *   - backspace takes back a character, tabs become blanks, other controls are left out
 *   - bytes that are no UTF-8, and characters that are controls or change the direction of writing, become
 *     one U+FFFD for each run of them
 *   - blanks at the end of a line and more than one empty line in a row are left out
 * `data` may begin or end in the middle of anything. */
void console_text_clean(const void *data, size_t n, struct strbuf *to);

#endif
