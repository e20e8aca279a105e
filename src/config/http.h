/* http.h: checks the keys of `http:` that depend on each other. Inside config only. */
#ifndef BALLAST_CONFIG_HTTP_H
#define BALLAST_CONFIG_HTTP_H

#include "config/section.h"

/* -EINVAL with the line: no address, or one that other machines reach and no certificate. */
int config_check_http(const struct section *s, const struct schema *keys);

#endif
