/* source_kinds.c: the list of kinds, in the order in which they are shown. */
#include "plugins/source_kinds.h"

#include "collectors/file/file.h"
#include "collectors/vsphere/vsphere.h"
#include "sim/fake_cluster/fake_cluster.h"

const struct source_kind *const source_kinds[] = {&vsphere_source, &fake_cluster_source, &file_source, NULL};
