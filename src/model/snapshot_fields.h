/* snapshot_fields.h: the objects of ballast-snapshot/1, field by field.
 *
 * A table for each kind of object gives each field's name, allowed values and offset. The reader and the
 * writer use these tables, so the reader accepts everything that the writer writes.
 */
#ifndef BALLAST_MODEL_SNAPSHOT_FIELDS_H
#define BALLAST_MODEL_SNAPSHOT_FIELDS_H

#include "schema/field.h"

#define SNAPSHOT_FORMAT "ballast-snapshot/1"

/* Indexed by enum automation; "" for a value that no host and no VM has. */
extern const char *const automation_words[], *const restart_priority_words[];

extern const struct schema snapshot_fields_document;    /* struct inventory; its lists are skipped */
extern const struct schema snapshot_fields_ha;          /* struct inventory */
extern const struct schema snapshot_fields_correlation; /* struct inventory */
extern const struct schema snapshot_fields_host;        /* struct seen_host */
extern const struct schema snapshot_fields_vm;          /* struct seen_vm, and so on */
extern const struct schema snapshot_fields_conflicts;   /* struct inventory */
extern const struct schema snapshot_fields_schedule; /* struct inventory; .schedule.given is not part of it */
extern const struct schema snapshot_fields_balance;  /* struct inventory; .balance.given likewise */
extern const struct schema snapshot_fields_pool;
extern const struct schema snapshot_fields_rule;
extern const struct schema snapshot_fields_migration;
extern const struct schema snapshot_fields_pending;
extern const struct schema snapshot_fields_standing; /* struct seen_pending */
extern const struct schema snapshot_fields_migration_rate;
extern const struct schema snapshot_fields_setting;
extern const struct schema snapshot_fields_avoid;            /* struct seen_avoid */
extern const struct schema snapshot_fields_group;            /* struct seen_group */
extern const struct schema snapshot_fields_stage;            /* struct stage_facts */
extern const struct schema snapshot_fields_pipeline;         /* struct seen_pipeline */
extern const struct schema snapshot_fields_pipeline_balance; /* struct pipeline_balance */
extern const struct schema snapshot_fields_answer;           /* struct seen_answer */
extern const struct schema snapshot_fields_expected;         /* struct expected */
extern const struct schema snapshot_fields_quiet;            /* struct quiet */

#endif
