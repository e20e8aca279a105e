/* control_folder.c: a folder of small text files by which other programs read and change the fake cluster,
 * and by which it outlives the process (README.md lists them).
 *
 * A file's text takes effect once, when it differs from the last text that was read or written here; an
 * invalid text has no effect. A failed write is repeated the next time: only the fake cluster depends on
 * it.
 */
#include "sim/fake_cluster/fake_cluster_internal.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MOST (1 << 20)
#define WATTS_STEP 0.1
#define JOULES_STEP 1.0
#define NOWHERE "-"

static const char *const folders[] = {"power", "watts", "joules"};

enum chassis_seen { SEEN_NOTHING, SEEN_OFF, SEEN_ON };

struct control_folder {
    char *folder;
    enum chassis_seen *power; /* by host: the text of its file */
    double *watts, *joules;   /* the same */
    double *joules_before;    /* by host: of earlier processes */
    uint32_t *where;          /* by VM: the host that stands in the file */
    char *load;               /* what was last read */
    bool placement_told;
};

/* ---- files ----------------------------------------------------------------------------------- */

/* The text of FOLDER/[sub/]name, to be freed; NULL: there is none, or it is no text. */
static char *read_file(const struct control_folder *o, const char *sub, const char *name)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/%s%s%s", o->folder, sub, *sub ? "/" : "", name);
    FILE *f = fopen(path, "re");

    if (!f)
        return NULL;
    char *text = xcalloc(TEXT_MOST + 1, 1);
    size_t n = fread(text, 1, TEXT_MOST, f);

    (void)fclose(f);
    text[n] = '\0';
    return text;
}

/* Replaces the file as a whole; a concurrent reader gets the old one. */
static bool write_file(const struct control_folder *o, const char *sub, const char *name, const char *text)
{
    char path[4096], fresh[4096];

    if (snprintf(path, sizeof path, "%s/%s%s%s", o->folder, sub, *sub ? "/" : "", name) >= (int)sizeof path ||
        snprintf(fresh, sizeof fresh, "%s/.%s-%s", o->folder, sub, name) >= (int)sizeof fresh)
        return false;
    FILE *f = fopen(fresh, "we");

    if (!f)
        return false;
    bool ok = fputs(text, f) >= 0;

    return fclose(f) == 0 && ok && rename(fresh, path) == 0;
}

static double read_number(const struct control_folder *o, const char *sub, const char *name)
{
    char *text = read_file(o, sub, name);
    double v = text ? strtod(text, NULL) : 0;

    free(text);
    return isfinite(v) && v > 0 ? v : 0;
}

/* ---- read: other programs' changes ---------------------------------------------------------- */

static const char *host_id(const struct fake_cluster *p, uint32_t host)
{
    return p->s.initial.hosts[host].is.id;
}

static void look_at_power(struct fake_cluster *p, uint32_t host)
{
    struct control_folder *o = p->outside;
    char *text = read_file(o, "power", host_id(p, host));
    enum chassis_seen seen = !text          ? SEEN_NOTHING
                             : *text == '1' ? SEEN_ON
                             : *text == '0' ? SEEN_OFF
                                            : SEEN_NOTHING;

    free(text);
    if (seen == SEEN_NOTHING || seen == o->power[host])
        return;
    o->power[host] = seen;
    cluster_switch(p->cluster, host, seen == SEEN_ON);
}

/* "VM CPU_MHZ [MEM_MB]" */
static void take_load(struct fake_cluster *p, char *line)
{
    char *rest = NULL;
    const char *vm = strtok_r(line, " \t", &rest);
    const char *cpu = strtok_r(NULL, " \t", &rest);
    const char *mem = strtok_r(NULL, " \t", &rest);
    uint32_t ix = vm ? snapshot_find_vm(&p->s.initial, vm) : IX_NONE;

    if (ix == IX_NONE || !cpu || !cluster_has_vm(p->cluster, ix))
        return;
    double mhz = strtod(cpu, NULL);
    double mb = mem ? strtod(mem, NULL) : p->s.initial.vms[ix].is.demand[RES_MEM];

    if (!isfinite(mhz) || mhz < 0 || !isfinite(mb) || mb < 0)
        return;
    fake_cluster_set_level(&p->s, ix, mhz, mb);
    cluster_demand_changed(p->cluster, ix);
}

static void look_at_load(struct fake_cluster *p)
{
    struct control_folder *o = p->outside;
    char *text = read_file(o, "", "load");

    if (!text || (o->load && strcmp(text, o->load) == 0)) {
        free(text);
        return;
    }
    free(o->load);
    o->load = xstrdup(text);
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        take_load(p, line);
    free(text);
}

void control_folder_read(struct fake_cluster *p)
{
    for (uint32_t i = 0; i < p->s.initial.n_hosts; i++)
        look_at_power(p, i);
    look_at_load(p);
}

/* ---- write: the cluster's state -------------------------------------------------------------- */

static void tell_number(const struct control_folder *o, const char *sub, const char *host, double v,
                        double step, double *told)
{
    char text[64];

    if (fabs(v - *told) < step)
        return;
    (void)snprintf(text, sizeof text, "%.1f\n", v);
    if (write_file(o, sub, host, text))
        *told = v;
}

static void tell_host(struct fake_cluster *p, uint32_t host)
{
    struct control_folder *o = p->outside;
    const struct host_now *now = cluster_host(p->cluster, host);
    enum chassis_seen is = now->powered ? SEEN_ON : SEEN_OFF;

    if (o->power[host] != is && write_file(o, "power", host_id(p, host), now->powered ? "1\n" : "0\n"))
        o->power[host] = is;
    double joules = cluster_host_totals(p->cluster, host)->energy_j / p->speed;

    tell_number(o, "watts", host_id(p, host), now->watts, WATTS_STEP, &o->watts[host]);
    tell_number(o, "joules", host_id(p, host), o->joules_before[host] + joules, JOULES_STEP,
                &o->joules[host]);
}

static void tell_placement(struct fake_cluster *p)
{
    struct control_folder *o = p->outside;
    bool news = !o->placement_told;
    char *text = NULL;
    size_t len = 0;

    for (uint32_t i = 0; i < p->s.initial.n_vms; i++) {
        uint32_t host = cluster_vm(p->cluster, i)->host;

        news = news || o->where[i] != host;
        o->where[i] = host;
    }
    if (!news)
        return;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        return;
    for (uint32_t i = 0; i < p->s.initial.n_vms; i++) {
        if (p->s.initial.vms[i].is.state == VM_ON || o->where[i] != IX_NONE)
            (void)fprintf(f, "%s %s\n", p->s.initial.vms[i].is.id,
                          o->where[i] == IX_NONE ? NOWHERE : host_id(p, o->where[i]));
    }
    o->placement_told = fclose(f) == 0 && write_file(o, "", "placement", text);
    free(text);
}

void control_folder_write(struct fake_cluster *p)
{
    for (uint32_t i = 0; i < p->s.initial.n_hosts; i++)
        tell_host(p, i);
    tell_placement(p);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Where VMs ran when the last process ended. A VM that has come or gone since is as the snapshot has it. */
static void recall_placement(struct fake_cluster *p)
{
    char *text = read_file(p->outside, "", "placement");
    char *rest = NULL;

    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        char *host = strchr(line, ' ');

        if (!host)
            continue;
        *host++ = '\0';
        uint32_t vm = snapshot_find_vm(&p->s.initial, line);
        uint32_t to = snapshot_find_host(&p->s.initial, host);

        if (vm != IX_NONE && (to != IX_NONE || strcmp(host, NOWHERE) == 0))
            cluster_put_vm(p->cluster, vm, to);
    }
    free(text);
}

static int make_folders(const char *folder, struct err *err)
{
    char path[4096];

    if (mkdir(folder, 0755) < 0 && errno != EEXIST)
        return err_set(err, -errno, "source.folder: %s cannot be made: %s", folder, strerror(errno));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
        if (mkdir(path, 0755) < 0 && errno != EEXIST)
            return err_set(err, -errno, "source.folder: %s cannot be made: %s", path, strerror(errno));
    }
    return 0;
}

int control_folder_open(struct fake_cluster *p, const char *folder, struct err *err)
{
    const struct snapshot *s = &p->s.initial;
    int r = make_folders(folder, err);

    for (uint32_t i = 0; r == 0 && i < s->n_hosts; i++) {
        if (strchr(host_id(p, i), '/') || host_id(p, i)[0] == '.')
            r = err_set(err, -EINVAL, "source.folder: the host id %s cannot be the name of a file",
                        host_id(p, i));
    }
    if (r < 0)
        return r;
    struct control_folder *o = p->outside = xcalloc(1, sizeof *o);

    o->folder = xstrdup(folder);
    o->power = xcalloc(s->n_hosts, sizeof *o->power);
    o->watts = xcalloc(s->n_hosts, sizeof *o->watts);
    o->joules = xcalloc(s->n_hosts, sizeof *o->joules);
    o->joules_before = xcalloc(s->n_hosts, sizeof *o->joules_before);
    o->where = xcalloc(s->n_vms, sizeof *o->where);
    for (uint32_t i = 0; i < s->n_hosts; i++) {
        o->joules_before[i] = read_number(o, "joules", host_id(p, i));
        o->watts[i] = -1; /* not written yet */
    }
    recall_placement(p);
    control_folder_read(p);
    control_folder_write(p);
    return 0;
}

void control_folder_free(struct control_folder *o)
{
    if (!o)
        return;
    free(o->folder);
    free(o->power);
    free(o->watts);
    free(o->joules);
    free(o->joules_before);
    free(o->where);
    free(o->load);
    free(o);
}
