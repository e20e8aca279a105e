/* pipeline.h: a whole pipeline of an inventory, whatever its stages have (snapshot_fields_stage). */
#ifndef BALLAST_MODEL_PIPELINE_H
#define BALLAST_MODEL_PIPELINE_H

#include <ballast/inventory.h>

/* A copy that shares nothing with the original. */
struct seen_pipeline pipeline_copy(const struct seen_pipeline *p, struct arena *a);

/* Whether a stage reads labels of VMs or hosts, or groups that are made of tags. */
bool pipeline_reads_labels(const struct seen_pipeline *p);

#endif
