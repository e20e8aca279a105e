/* snapshot_json.h: reads and writes ballast-snapshot/1.
 *
 * Files come from anywhere: the reader is strict about types, refuses duplicate keys, and limits the size. It
 * skips unknown fields and reports each once for a kind of object. snapshot_build() checks whether the
 * objects fit together; snapshot_load() reads and builds.
 */
#ifndef BALLAST_MODEL_SNAPSHOT_JSON_H
#define BALLAST_MODEL_SNAPSHOT_JSON_H

#include "base/strbuf.h"
#include "schema/reader.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>
#include <ballast/snapshot.h>

#define SNAPSHOT_BYTES_MAX ((size_t)4095 * 1024 * 1024) /* some three million VMs */

/* -EINVAL with "JSON-pointer: what is wrong, what was expected"; line and column follow the pointer where the
 * text is not JSON. Of several mistakes the first is reported: in the JSON, in the document's own members, in
 * the objects of its lists. unknown may be NULL. */
int snapshot_read_inventory(const char *text, size_t len, struct arena *a, struct inventory *ret,
                            struct unknown_fields *unknown, struct err *err);

/* Reads the file, or standard input for "-", and builds the snapshot of it. The error begins with the file's
 * name. -EINVAL: the content is wrong; -EFBIG: the file is too large; else the error of the system. */
int snapshot_load_inventory(const char *path, struct arena *a, struct inventory *ret,
                            struct unknown_fields *unknown, struct err *err);
int snapshot_load(const char *path, struct arena *a, struct snapshot *ret, struct unknown_fields *unknown,
                  struct err *err);

/* The snapshot as JSON, one object on each line. Reading it gives an identical snapshot, to the last bit. */
void snapshot_dump(const struct snapshot *s, struct strbuf *out);

#endif
