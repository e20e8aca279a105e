/* fit: pipelines of 16 filters and 10 scores, measured by wall clock on one thread.
 *
 *     bench-fit request HOSTS     one request: what columns cost, then filters and scores of all hosts
 *     bench-fit place HOSTS N K   N VMs of K kinds powered on in one call, with this pipeline; K 0: equal VMs
 *                                 without one
 *     bench-fit classes HOSTS VMS passes on a generated cloud with its pipeline, and without
 *     bench-fit with HOSTS VMS    one such pass, to count its instructions; or `without`; or `filters`,
 * without the pipeline's scores
 *
 * Prints a line of figures in ms. */
#include "base/strbuf.h"
#include "cloud.h"
#include "core/fit/rank.h"
#include "core/pass.h"
#include "core/place/place.h"
#include "core/place/starting.h"
#include "core/plan/pass_state.h"
#include "model/generate.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REPETITIONS 15
#define PASSES 7

/* As Nova's, by name; ' stands for ". */
static const char pipeline[] =
    "{'name':'p','stages':["
    "{'name':'ram','count':'$vm.mem_mb'},{'name':'cpus','count':'$vm.vcpus'},"
    "{'name':'group','count':1,'per':'$vm.groups'},"
    "{'name':'zone','filter':['any_group','zone',['=','$group.meta.zone','$vm.hints.zone']]},"
    "{'name':'image isolation','filter':['all_groups','aggregate',['or',['not',['given','$group.meta.os']],"
    "['=','$group.meta.os','$vm.image.os']]]},"
    "{'name':'extra specs','filter':['all_groups','aggregate',['or',['not',['given','$group.meta.ssd']],"
    "['in','$vm.flavor.ssd',['split','$group.meta.ssd']]]]},"
    "{'name':'tenants','filter':['all_groups','aggregate',['or',['not',['given','$group.meta.tenants']],"
    "['in','$vm.owner',['split','$group.meta.tenants']]]]},"
    "{'name':'type','filter':['all_groups','aggregate',['or',['not',['given','$group.meta.type']],"
    "['in',['split','$group.meta.type'],'m1']]]},"
    "{'name':'io ops','filter':['<','$host.attributes.io_ops',8]},"
    "{'name':'instances','filter':['<','$host.attributes.instances',50]},"
    "{'name':'all','filter':true},"
    "{'name':'capabilities','filter':['=','$host.attributes.arch','$vm.flavor.arch']},"
    "{'name':'traits','filter':['has_all','$host.traits','AVX','AES']},"
    "{'name':'compute','filter':['=','$host.attributes.up',true]},"
    "{'name':'different host','filter':['not',['in','$host.id','h000001','h000007','h000100']]},"
    "{'name':'isolated','filter':['not',['in','$host.id'%s]]},"
    "{'name':'version','filter':['version','$host.attributes.version','>=6.1, <9']},"
    "{'name':'json','filter':['and',['>=','$host.attributes.free_ram',1024],['>=','$host.attributes.free_"
    "disk',"
    "10240]]},"
    "{'name':'vcpus','filter':['<=','$vm.vcpus','$host.cores']},"
    "{'name':'RAM','score':['max',0,['-','$host.attributes.free_ram','$host.used.ram']],'least':0},"
    "{'name':'CPU','score':['max',0,['-',['*','$host.cores',16],'$host.used.cpus']],'least':0},"
    "{'name':'disk','score':['max',0,'$host.attributes.free_disk'],'least':0},"
    "{'name':'metrics','score':['+',['default','$host.attributes.idle',0],['*',2,['default',"
    "'$host.attributes.frequency',0]]]},"
    "{'name':'io','score':'$host.attributes.io_ops','multiplier':-1,'least':0},"
    "{'name':'PCI','score':['-',100,['min','$host.attributes.pci',99]]},"
    "{'name':'affinity','score':'$host.used.group'},"
    "{'name':'anti-affinity','score':['-',0,'$host.used.group'],'multiplier':0.5},"
    "{'name':'builds','score':'$host.attributes.failed','multiplier':-1000},"
    "{'name':'hypervisor','score':['default','$host.attributes.number',0]}]}";

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void put_hosts(struct strbuf *text, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        strbuf_printf(
            text,
            "%s{'id':'h%06u','state':'on','cpu_mhz':48000,'cores':%u,'mem_mb':262144,'traits':['AES','AVX'],"
            "'attributes':{'io_ops':%u,'instances':%u,'arch':'x86_64','up':%s,'version':'6.%u.0',"
            "'free_ram':%u,'free_disk':%u,'idle':%u.5,'frequency':%u,'pci':%u,'failed':%u,'number':%u}}",
            i ? "," : "", i, 16 + i % 3 * 16, i % 10, i * 7 % 60, i % 50 ? "true" : "false", i % 9,
            i * 7919 % 200000, i * 104729 % 2000000, i * 31 % 97, 2000 + i * 13 % 1500, i % 5, i % 40 == 0,
            6000000 + i % 9);
}

static void put_groups(struct strbuf *text, unsigned n)
{
    static const char *const meta[] = {"'os':'linux'", "'ssd':'yes, true'", "'tenants':'bank, shop'",
                                       "'type':'m1, m2'"};

    for (unsigned g = 0; g < 12; g++) {
        strbuf_printf(text, "%s{'id':'g%02u','kind':'%s','hosts':[", g ? "," : "", g,
                      g < 4 ? "zone" : "aggregate");
        for (unsigned i = g < 4 ? g : g * 5, first = 1; i < n; i += g < 4 ? 4 : 29, first = 0)
            strbuf_printf(text, "%s'h%06u'", first ? "" : ",", i);
        strbuf_printf(text, "],'meta':{%s}}",
                      g >= 4   ? meta[g % 4]
                      : g == 3 ? "'zone':'west'"
                               : "'zone':'east'");
    }
}

/* The kinds differ in what they take and in their tenant. */
static void put_requests(struct strbuf *text, unsigned n, unsigned kinds)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned kind = kinds ? i % kinds : 0;

        strbuf_printf(
            text,
            "{'id':'r%05u','state':'off','vcpus':%u,'mem_mb':%u,'owner':'%s','groups':['web'],"
            "'flavor':{'arch':'x86_64','ssd':'yes'},'image':{'os':'linux'},'hints':{'zone':'east'}%s},",
            i, 2 + kind % 4, 2048 + kind / 8 * 1024, kind / 4 % 2 ? "shop" : "bank",
            kinds ? ",'pipeline':'p'" : "");
    }
}

/* One VM runs on each host; the requests are off. */
static void make(unsigned hosts, unsigned requests, unsigned kinds, struct arena *a, struct snapshot *ret)
{
    struct strbuf text;
    struct strbuf isolated;
    struct inventory inv;
    struct err err = {0};

    strbuf_init(&text, STRBUF_NO_LIMIT);
    strbuf_init(&isolated, STRBUF_NO_LIMIT);
    for (unsigned i = 0; i < 100; i++)
        strbuf_printf(&isolated, ",'h%06u'", i * 9 + 5);
    strbuf_puts(&text,
                "{'format':'ballast-snapshot/1','cluster':'c','time':'2026-01-01T00:00:00Z','hosts':[");
    put_hosts(&text, hosts);
    strbuf_puts(&text, "],'groups':[");
    put_groups(&text, hosts);
    strbuf_puts(&text, "],'vms':[");
    put_requests(&text, requests, kinds);
    for (unsigned i = 0; i < hosts; i++)
        strbuf_printf(&text,
                      "%s{'id':'v%06u','host':'h%06u','state':'on','vcpus':%u,'mem_mb':4096,'groups':['%s'],"
                      "'cpu':{'demand':%u},'mem':{'demand':1024,'consumed':1024}}",
                      i ? "," : "", i, i, 1 + i % 8, i % 3 ? "db" : "web", 200 + i % 900);
    strbuf_puts(&text, "],'pipelines':[");
    const char *gap = strstr(pipeline, "%s");
    strbuf_printf(&text, "%.*s%s%s]}", (int)(gap - pipeline), pipeline, isolated.text, gap + 2);
    for (char *c = text.text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (snapshot_read_inventory(text.text, strlen(text.text), a, &inv, NULL, &err) < 0 ||
        snapshot_build(&inv, a, ret, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    strbuf_release(&text);
    strbuf_release(&isolated);
}

/* The least of several times; hosts that pass in *ret_left. */
static void request(unsigned hosts)
{
    struct arena a = {0};
    struct snapshot s;
    struct policy policy;
    struct pass p;
    double best[3] = {INFINITY, INFINITY, INFINITY};
    uint32_t left = 0;
    uint32_t best_host = 0;

    make(hosts, 1, 1, &a, &s);
    policy_default(&policy);
    uint32_t vm = snapshot_find_vm(&s, "r00000");
    starting_assume_all(&s.vms[vm], 0);
    pass_prepare(&p, &s, &policy, RULES_PREFERRED, IX_NONE, &a);
    const struct fit_live live = layout_live(&p.layout);

    for (int k = 0; k < REPETITIONS; k++) {
        struct arena b = {0};
        struct fit fit;
        double t[4] = {now_ms()};

        fit_prepare(&s, &b, &fit);
        t[1] = now_ms();
        fit_classify(&fit, &b);
        t[2] = now_ms();
        uint32_t *index = arena_array(&b, uint32_t, hosts);
        uint32_t most = 0;
        left = 0;
        for (uint32_t h = 0; h < hosts; h++)
            if (!fit_refuses(&fit, FIT_PLACE, vm, h))
                index[left++] = h;
        struct fit_ranking *ranking = fit_ranking_new(&fit, vm, &live.is, index, left, &b);
        fit_ranking_score(ranking);
        for (uint32_t i = 1; i < left; i++)
            most = ranking->score[i] > ranking->score[most] ? i : most;
        t[3] = now_ms();
        best_host = index[most];
        for (int i = 0; i < 3; i++)
            best[i] = fmin(best[i], t[i + 1] - t[i]);
        arena_release(&b);
    }
    (void)printf("%u hosts, %u left, best %s: columns %.3f, filters %.3f, scores %.3f\n", hosts, left,
                 s.hosts[best_host].is.id, best[0], best[1], best[2]);
    arena_release(&a);
}

static void place(unsigned hosts, unsigned n, unsigned kinds)
{
    struct arena a = {0};
    struct snapshot s;
    struct policy policy;
    struct plan plan;
    struct err err = {0};
    uint32_t *vms = arena_array(&a, uint32_t, n);

    make(hosts, n, kinds, &a, &s);
    policy_default(&policy);
    for (unsigned i = 0; i < n; i++)
        vms[i] = i; /* r00000 ... come before v000000 */
    double began = now_ms();
    if (place_run(&s, &policy, vms, n, &a, &plan, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    double ms = now_ms() - began;

    (void)printf("%u hosts, %u placed of %u of %u kinds: all %.1f, each %.3f, a second %.0f; %.0f MB\n",
                 hosts, plan.n_recommendations, n, kinds, ms, ms / n, n / ms * 1e3,
                 (double)arena_size(&a) / 1e6);
    arena_release(&a);
}

static double pass_ms(const struct snapshot *s, const struct policy *policy, uint32_t *ret_moves)
{
    struct arena a = {0};
    struct plan plan;
    struct err err = {0};
    double began = now_ms();

    if (pass_run(s, policy, &a, &plan, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    double ms = now_ms() - began;

    *ret_moves = plan.n_recommendations;
    arena_release(&a);
    return ms;
}

/* The scores are the last stages. */
static void drop_scores(struct seen_pipeline *p)
{
    const struct stage_facts *stages = p->stages.items;

    while (p->stages.n > 0 && stages[p->stages.n - 1].score.n > 0)
        p->stages.n--;
}

/* A cloud with its pipeline, and without; scores: of the pipeline. */
static void make_cloud(unsigned hosts, unsigned vms, bool scores, struct arena *a, struct snapshot *with,
                       struct snapshot *without)
{
    struct inventory inv;
    struct err err = {0};

    int r = cloud_generate(hosts, vms, 1, a, &inv, &err);
    for (size_t i = 0; r == 0 && !scores && i < inv.n_pipelines; i++)
        drop_scores(&inv.pipelines[i]);
    if (r < 0 || snapshot_build(&inv, a, with, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
        exit(EXIT_FAILURE);
    }
    inv.n_pipelines = 0;
    for (size_t i = 0; i < inv.n_vms; i++)
        inv.vms[i].pipeline = NULL;
    if (snapshot_build(&inv, a, without, &err) < 0)
        exit(EXIT_FAILURE);
}

static void one_pass(unsigned hosts, unsigned vms, bool with_pipeline, bool scores)
{
    struct arena a = {0};
    struct snapshot with, without;
    struct policy policy;
    uint32_t moves;

    make_cloud(hosts, vms, scores, &a, &with, &without);
    policy_default(&policy);
    double ms = pass_ms(with_pipeline ? &with : &without, &policy, &moves);
    (void)printf("%u hosts, %u VMs: %.1f (%u moves)\n", hosts, vms, ms, moves);
    arena_release(&a);
}

static void classes(unsigned hosts, unsigned vms)
{
    struct arena a = {0};
    struct snapshot with, without;
    struct policy policy;
    struct fit fit;
    double best[2] = {INFINITY, INFINITY};
    uint32_t moves[2];

    make_cloud(hosts, vms, true, &a, &with, &without);
    policy_default(&policy);
    fit_compile(&with, &a, &fit);
    for (int k = 0; k < PASSES; k++) { /* in turn: a slow moment affects both */
        best[0] = fmin(best[0], pass_ms(&without, &policy, &moves[0]));
        best[1] = fmin(best[1], pass_ms(&with, &policy, &moves[1]));
    }
    (void)printf("%u hosts, %u VMs, %u classes: without %.1f (%u moves), with %.1f (%u moves), ratio %.2f\n",
                 hosts, vms, fit.n_classes, best[0], moves[0], best[1], moves[1], best[1] / best[0]);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    unsigned n[3] = {0};

    for (int i = 2; i < argc && i < 5; i++)
        n[i - 2] = (unsigned)strtoul(argv[i], NULL, 10);
    if (argc == 3 && strcmp(argv[1], "request") == 0)
        request(n[0]);
    else if (argc == 5 && strcmp(argv[1], "place") == 0)
        place(n[0], n[1], n[2]);
    else if (argc == 4 && (strcmp(argv[1], "with") == 0 || strcmp(argv[1], "without") == 0 ||
                           strcmp(argv[1], "filters") == 0))
        one_pass(n[0], n[1], strcmp(argv[1], "without") != 0, strcmp(argv[1], "with") == 0);
    else if (argc == 4 && strcmp(argv[1], "classes") == 0)
        classes(n[0], n[1]);
    else
        return EXIT_FAILURE;
    return EXIT_SUCCESS;
}
