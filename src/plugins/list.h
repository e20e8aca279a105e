/* list.h: every kind of source that is compiled in, one on each line, in the order of output.
 *
 * A plug-in NAME defines NAME_source in its keys.c, and NAME_plugin in its plugin.c. The skeleton is
 * compiled, but not in the list.
 */
#ifndef BALLAST_PLUGINS_LIST_H
#define BALLAST_PLUGINS_LIST_H

/* clang-format off */
#define PLUGIN_LIST(X) \
    X(vsphere) \
    X(libvirt) \
    X(proxmox) \
    X(fake_cluster) \
    X(file)
/* clang-format on */

#endif
