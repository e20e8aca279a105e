/* list.h: every kind of source that is compiled in, a line each, in the order in which they are shown.
 *
 * A plug-in NAME defines NAME_source in its keys.c, and NAME_plugin in its plugin.c. The skeleton is
 * compiled, and not on the list. */
#ifndef BALLAST_PLUGINS_LIST_H
#define BALLAST_PLUGINS_LIST_H

/* clang-format off */
#define PLUGIN_LIST(X) \
    X(vsphere) \
    X(fake_cluster) \
    X(file)
/* clang-format on */

#endif
