/* snapshot_fields.h: the objects of ballast-snapshot/1, field by field.
 *
 * One table for each kind of object says what a field is called, what it may hold and where it is kept. The
 * reader and the writer both follow it, so that what one writes the other reads.
 */
#ifndef BALLAST_MODEL_SNAPSHOT_FIELDS_H
#define BALLAST_MODEL_SNAPSHOT_FIELDS_H

#include "schema/field.h"

#define SNAPSHOT_FORMAT "ballast-snapshot/1"

/* By the numbers of enum automation; "" for those that no host and no VM has. */
extern const char *const automation_words[];

extern const struct schema schema_document;                   /* struct inventory; its lists are skipped */
extern const struct schema schema_ha;                         /* struct inventory */
extern const struct schema schema_correlation, schema_regret; /* struct inventory */
extern const struct schema schema_host;                       /* struct seen_host */
extern const struct schema schema_vm;                         /* struct seen_vm, and so on */
extern const struct schema schema_schedule; /* struct inventory; .schedule.given is not part of it */
extern const struct schema schema_pool;
extern const struct schema schema_rule;
extern const struct schema schema_migration;
extern const struct schema schema_pending;
extern const struct schema schema_migration_rate;
extern const struct schema schema_setting;
extern const struct schema schema_expected; /* struct expected */

#endif
