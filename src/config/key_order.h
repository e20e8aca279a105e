/* key_order.h: the keys in the order of conf/ballast.yaml, and an example of each. The tables are made from
 * that file (key_order.py). */
#ifndef BALLAST_CONFIG_KEY_ORDER_H
#define BALLAST_CONFIG_KEY_ORDER_H

/* Whole paths, "source.kind"; NULL at the end. The examples of that file are among them:
 * "power.hosts.esx1.ipmi". */
extern const char *const config_key_order[];

/* What to write, in one line; * in the path stands for a name or for the entries of a list. */
struct key_example {
    const char *path, *value; /* NULL at the end */
};
extern const struct key_example config_key_examples[];

#endif
