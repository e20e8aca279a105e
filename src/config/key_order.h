/* key_order.h: the keys in the order of conf/ballast.yaml, from which the table is made (key_order.py). */
#ifndef BALLAST_CONFIG_KEY_ORDER_H
#define BALLAST_CONFIG_KEY_ORDER_H

/* Whole paths, "source.kind"; NULL at the end. The examples of that file are among them:
 * "power.hosts.esx1.ipmi". */
extern const char *const config_key_order[];

#endif
