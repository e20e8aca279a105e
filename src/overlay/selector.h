/* selector.h: which VMs or hosts of an inventory an entry of the configuration is about.
 *
 * A condition selects an object if each of its lists that is not empty has a matching pattern: "and" between
 * the lists, "or" within a list. A selector selects what any of its conditions selects.
 *
 * Patterns are those of the shell (fnmatch(3)): `*`, `?` and `[...]`, a backslash before a character takes it
 * literally. Upper and lower case differ.
 */
#ifndef BALLAST_OVERLAY_SELECTOR_H
#define BALLAST_OVERLAY_SELECTOR_H

#include <ballast/inventory.h>

struct condition {
    struct ids names;   /* of the name, or of the id */
    struct ids folders; /* of the path; a folder selects those below it too. `*` does not match a `/` */
    struct ids labels;  /* "KEY", or "KEY=VALUE" with a pattern for the value */
    struct ids tags;    /* of a label: see selector_next_tag() */
};

struct selector {
    const struct condition *conditions;
    uint32_t n; /* 0: not given, selects nothing */
};

/* Whether the condition has a pattern at all. */
bool selector_condition_given(const struct condition *c);

/* Whether it selects by labels or tags. */
bool selector_needs_labels(const struct selector *s);

bool selector_takes_vm(const struct selector *s, const struct vm_facts *vm);
bool selector_takes_host(const struct selector *s, const struct host_facts *host);

/* A tag of a system that has categories (vSphere) is a label: the category is the key, the tag is the value.
 * A tag of a system without categories (Proxmox VE) is a label without a value. Several tags of a category
 * are separated by ';'. */
#define LABEL_SEPARATOR ';'

/* The next tag of the label; *at is 0 for the first call. False: there are no more. The tag is not
 * terminated: it has *ret_len bytes. */
bool selector_next_tag(const struct label *l, size_t *at, const char **ret, size_t *ret_len);

#endif
