/* night_record.h: what is counted of one night (nights.h), and as JSON: kept over a restart, and published.
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_NIGHT_RECORD_H
#define BALLAST_ENGINE_KNOWLEDGE_NIGHT_RECORD_H

#include "base/idmap.h"
#include "base/strbuf.h"

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/units.h>

#include <stdbool.h>

/* The strings are its own. */
struct night_host {
    char *host, *name;
    instant_s from;    /* since when it sleeps, or slept first; 0: not in this night */
    instant_s until;   /* it was last seen to be on again; 0: it sleeps on */
    double asleep_s;   /* within the night */
    double woke_s;     /* its last wake took so long; UNKNOWN: none was done */
    double expected_s; /* of that; UNKNOWN: not known */
    bool late;         /* a wake took a fifth longer than expected, or more than one method */
    bool failed;       /* its last wake did not succeed */
    bool stayed_on;    /* its last standby did not succeed */
    char *why;         /* why it is late, failed or stayed on; NULL: no reason is known */
};

struct night_record {
    instant_s from, until; /* until: the newest look */
    double used_kwh, all_on_kwh, saved_kwh;
    double host_s, measured_s, unknown_s; /* as in struct energy_record */
    double wanted[2], unmet[2];           /* MHz s, MiB s */
    char *proof_host, *proof_name;        /* the host whose proof is due next; NULL: none is asked for */
    instant_s proof_due;                  /* when */
    char *proof_why;                      /* why it was not proven in the night; NULL: not known */
    uint32_t proofs_due;                  /* hosts whose proof is due at the end of the night */
    char *text;                           /* the sentence; NULL: the night goes on */
    struct idmap hosts;                   /* id -> struct night_host */
};

/* The host's part; made where there is none. */
struct night_host *night_record_host(struct night_record *r, const char *host, const char *name);
/* All of them, by name in the order that a person expects. In the arena. */
size_t night_record_hosts(const struct night_record *r, struct arena *a, struct night_host ***ret);
void night_record_release(struct night_record *r); /* leaves an empty one */
void night_record_set_text(char **to, const char *text);

/* One line. */
void night_record_write(const struct night_record *r, struct strbuf *out);
/* -EINVAL: damaged; *ret is empty then. */
int night_record_read(const char *text, struct night_record *ret, struct err *err);

/* The night in one sentence; times by the clocks of the zone. */
void night_record_describe(const struct night_record *r, const char *zone, struct strbuf *out);

#endif
