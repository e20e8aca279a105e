/* mask.h: takes out of a text what may be a secret, for a text that goes to other people.
 *
 * The configuration has no passwords (they stand in files of their own), but URLs may: a user's password, or
 * a path that is itself the key, as of many webhooks. Logs may quote them. Masked, each by "***":
 *   - in a URL: user and password, the query, and all of the path but a first part that is a short word;
 *   - after Basic, Bearer, and after a key that ends in password, secret, token, api_key, cookie and the like
 *     (with : or =);
 *   - after an option with such a name, and after those that take a login or a header (-u, -H);
 *   - what an error of the configuration quotes (`is "...", expected`);
 *   - a token of the API (ballast_ and 64 hexadecimal digits).
 */
#ifndef BALLAST_BASE_MASK_H
#define BALLAST_BASE_MASK_H

#include "base/strbuf.h"

/* Adds the text, masked. */
void mask_secrets(const char *text, size_t len, struct strbuf *out);

#endif
