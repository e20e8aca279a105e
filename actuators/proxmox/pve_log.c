/* pve_log.c: reads lines of a migration's log. */
#include "actuators/proxmox/pve_log.h"

#include <ballast/units.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISKS_PART 0.9 /* of a migration that copies disks */
#define TIME_MOST_S 1e7

void pve_log_init(struct pve_log *l)
{
    *l = (struct pve_log){.percent = -1};
}

static void take_target(struct pve_log *l, const char *line)
{
    const char *at = strstr(line, " to node ");
    char name[PVE_NODE_MAX];

    if (!at || l->to[0])
        return;
    at += strlen(" to node ");
    at += *at == '\'';
    size_t len = strcspn(at, "' \t");
    if (len >= sizeof name)
        return;
    memcpy(name, at, len);
    name[len] = '\0';
    if (pve_is_node_name(name))
        memcpy(l->to, name, sizeof name);
}

/* "1.2 GiB" in bytes; 0: it is none. */
static double size_at(const char *text, const char **ret_end)
{
    static const char units[] = "KMGTP";
    char *end = NULL;
    double v = strtod(text, &end);
    const char *unit;

    if (end == text || !isfinite(v) || v < 0)
        return 0;
    end += *end == ' ';
    if (*end && (unit = strchr(units, *end)) != NULL)
        v *= pow(1024, (double)(unit - units) + 1);
    *ret_end = end;
    return v;
}

static void take_rates(struct pve_log *l, const char *line)
{
    const char *rate = strstr(line, "VM-state, "), *dirty = strstr(line, "VM dirties lots of memory: "), *end;

    l->rate_mb_s = rate ? size_at(rate + strlen("VM-state, "), &end) / BYTES_PER_MIB : 0;
    l->dirty_mb_s = dirty ? size_at(dirty + strlen("VM dirties lots of memory: "), &end) / BYTES_PER_MIB : 0;
}

/* Memory is written again while it is copied: more than all of it may be sent. */
static void take_transferred(struct pve_log *l, const char *line)
{
    const char *at = strstr(line, "transferred "), *end = NULL, *of;

    if (!at)
        return;
    double done = size_at(at + strlen("transferred "), &end);
    if (!end || !(of = strstr(end, " of ")))
        return;
    double all = size_at(of + strlen(" of "), &end);
    if (!(all > 0))
        return;
    double part = fmin(done / all, 0.99);
    l->copied_mb = done / BYTES_PER_MIB;
    if (strstr(line, "VM-state")) {
        l->memory_mb = all / BYTES_PER_MIB;
        take_rates(l, line);
        part = l->disks ? DISKS_PART + part * (1 - DISKS_PART) : part;
    } else {
        l->disks = true;
        part *= DISKS_PART;
    }
    l->percent = (int)fmax(l->percent, part * 100);
}

static void take_times(struct pve_log *l, const char *line)
{
    const char *at = strstr(line, "downtime ");
    unsigned h, m, s;

    if (at && strstr(line, "average migration speed")) {
        double ms = strtod(at + strlen("downtime "), NULL);
        l->downtime_s = ms > 0 && ms < TIME_MOST_S * 1000 ? ms / 1000 : 0;
    }
    at = strstr(line, "migration finished successfully (duration ");
    if (at &&
        sscanf(at + strlen("migration finished successfully (duration "), "%4u:%2u:%2u", &h, &m, &s) == 3)
        l->took_s = h * 3600.0 + m * 60.0 + s;
}

/* The first error is the cause, what follows is cleaning up; the task's end repeats the last. */
static void take_error(struct pve_log *l, const char *line)
{
    const char *at = strstr(line, "ERROR: ");

    if (!at || l->error[0])
        return;
    (void)snprintf(l->error, sizeof l->error, "%s", at + strlen("ERROR: "));
    for (char *c = l->error; *c; c++)
        *c = (signed char)*c < ' ' ? '?' : *c; /* a character may have been cut in two */
}

void pve_log_take(struct pve_log *l, const char *line)
{
    l->lines++;
    take_target(l, line);
    take_transferred(l, line);
    take_times(l, line);
    take_error(l, line);
}
