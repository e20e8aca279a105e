/* curl_setup.h: libcurl must be set up once a process, and that is not thread-safe. Inside net only. */
#ifndef BALLAST_NET_CURL_SETUP_H
#define BALLAST_NET_CURL_SETUP_H

/* Any thread, any number of times; defined in http.c. */
void net_curl_set_up(void);

#endif
