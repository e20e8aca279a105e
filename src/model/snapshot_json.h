/* snapshot_json.h: ballast-snapshot/1, read and written.
 *
 * The reader takes files from anywhere: it is strict about types, refuses a key that is given twice, and caps
 * the size. Fields that it does not know are passed over, and said once for each kind of object. Whether the
 * whole makes sense is for snapshot_build() to say; snapshot_load() does both.
 */
#ifndef BALLAST_MODEL_SNAPSHOT_JSON_H
#define BALLAST_MODEL_SNAPSHOT_JSON_H

#include "base/strbuf.h"
#include "schema/reader.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>
#include <ballast/snapshot.h>

#define SNAPSHOT_BYTES_MAX ((size_t)1024 * 1024 * 1024)

/* -EINVAL with "JSON-pointer: what is wrong, what was expected"; for what is not JSON the pointer is "/" and
 * line and column follow. unknown may be NULL. */
int snapshot_read_inventory(const char *text, size_t len, struct arena *a, struct inventory *ret,
                            struct unknown_fields *unknown, struct err *err);

/* Reads the file and builds the snapshot, or standard input for "-". The sentence begins with the file's
 * name. -EINVAL: the content is wrong; -EFBIG: too large; otherwise why it could not be read. */
int snapshot_load(const char *path, struct arena *a, struct snapshot *ret, struct unknown_fields *unknown,
                  struct err *err);

/* The snapshot as JSON. Reading it gives the same snapshot, to the last bit; an object is one line. */
void snapshot_dump(const struct snapshot *s, struct strbuf *out);

#endif
