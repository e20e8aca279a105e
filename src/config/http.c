/* http.c: checks the keys of `http:` that depend on each other. */
#include "config/sections.h"

#include "base/listen_address.h"

#include <string.h>

int config_check_http(const struct section *s, const struct schema *keys)
{
    static const char *const others[] = {"http.cert_file",   "http.key_file",
                                         "http.connections", "http.connections_per_address",
                                         "http.session_s",   "http.session_idle_s"};
    const struct config_http *h = &s->config->http;
    struct listen_address address;

    for (size_t i = 0; !h->listen && i < sizeof others / sizeof *others; i++) {
        if (section_has(s, others[i]))
            section_warn(s, section_line(s, others[i]), "%s is of no use without http.listen", others[i]);
    }
    if (!h->listen)
        return 0;
    if (listen_address_parse(h->listen, &address) < 0)
        return section_refuse(
            s, "http.listen",
            "is \"%.80s\", expected a numeric address and a port, such as 127.0.0.1:8480 or "
            "[::]:8443",
            h->listen);
    if (!h->cert_file != !h->key_file)
        return section_refuse(s, h->cert_file ? "http.key_file" : "http.cert_file",
                              "is missing, expected both http.cert_file and http.key_file, or neither");
    if (!h->cert_file && !listen_address_is_loopback(&address))
        return section_refuse(
            s, "http.listen",
            "is an address that other machines reach, expected http.cert_file and http.key_file, so that "
            "tokens do not go over the network in the clear; or a loopback address");
    return section_files(s, keys, "http.", s->config);
}
