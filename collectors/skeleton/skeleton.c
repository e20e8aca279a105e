/* skeleton.c: a whole collector, for a hypervisor that answers GET url with lines of text.
 *
 *     host ID STATE CORES MHZ_PER_CORE MEM_BYTES
 *     vm ID HOST STATE VCPUS MEM_BYTES CPU_MHZ ACTIVE_BYTES CONSUMED_BYTES      "-" where it was not measured
 *
 * A real one adds a login and more fields; the parts and their order stay the same.
 */
#include "collectors/skeleton/skeleton.h"

#include "base/strbuf.h"
#include "base/xalloc.h"
#include "net/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE_WORDS 9
#define TIMEOUT_DEFAULT_S 60

struct collector {
    const struct source_config *cfg;
    struct http_session *http;
};

/* Checks the configuration and sends nothing: the service starts even while its source is away. */
static int create(const struct source_config *cfg, struct collector **ret, struct err *err)
{
    struct http_options options = {.ca_file = cfg->ca_file, .tls_verify = cfg->tls_verify, .stop = cfg->stop};
    int r = http_url_check(cfg->url, err);

    if (r < 0)
        return r;
    struct collector *c = xcalloc(1, sizeof *c);
    r = http_session_new(&options, &c->http, err);
    if (r < 0) {
        free(c);
        return r;
    }
    c->cfg = cfg;
    *ret = c;
    return 0;
}

static void destroy(struct collector *c)
{
    if (!c)
        return;
    http_session_free(c->http);
    free(c);
}

/* Converts a number of the peer to our unit; UNKNOWN for "-", -EINVAL for invalid text. */
static int read_number(const char *word, double per, double *ret)
{
    char *end = NULL;

    if (strcmp(word, "-") == 0) {
        *ret = UNKNOWN;
        return 0;
    }
    double v = strtod(word, &end);
    if (end == word || *end != '\0' || !(v >= 0 && v < 1e18))
        return -EINVAL;
    *ret = v / per;
    return 0;
}

static int read_host(char *const *words, struct arena *a, struct inventory *inv)
{
    double cores;
    double core_mhz;
    double mem_mb;
    enum host_state state;

    if (read_number(words[3], 1, &cores) < 0 || read_number(words[4], 1, &core_mhz) < 0 ||
        read_number(words[5], BYTES_PER_MIB, &mem_mb) < 0 || !(cores >= 1 && cores < 1e6) ||
        host_state_parse(words[2], &state) < 0)
        return -EINVAL;
    struct seen_host *h = inventory_add_host(inv, a);
    h->is.id = h->is.name = arena_strdup(a, words[1]);
    h->is.state = state;
    h->is.cores = (uint32_t)cores;
    h->is.total[RES_CPU] = cores * core_mhz;
    h->is.total[RES_MEM] = mem_mb;
    return 0;
}

static int read_vm(char *const *words, struct arena *a, struct inventory *inv)
{
    double number[LINE_WORDS] = {0};
    enum vm_state state;

    if (vm_state_parse(words[3], &state) < 0)
        return -EINVAL;
    for (size_t i = 4; i < LINE_WORDS; i++) {
        if (read_number(words[i], i == 4 || i == 6 ? 1 : BYTES_PER_MIB, &number[i]) < 0)
            return -EINVAL;
    }
    if (!(number[4] >= 1 && number[4] < 1e6) || !(number[5] > 0))
        return -EINVAL;
    struct seen_vm *v = inventory_add_vm(inv, a);
    v->is.vcpus = (uint32_t)number[4];
    v->is.mem_mb = number[5];
    vm_facts_default(&v->is); /* shares and the like, which depend on the size */
    v->is.id = v->is.name = arena_strdup(a, words[1]);
    v->host = arena_strdup(a, words[2]);
    v->is.state = state;
    if (state != VM_ON)
        return 0;
    v->sample = (struct vm_sample){.present = true,
                                   .interval_ms = UNKNOWN,
                                   .cpu_used_mhz = number[6],
                                   .cpu_run_ms = UNKNOWN,
                                   .cpu_sleep_ms = UNKNOWN,
                                   .cpu_ready_ms = UNKNOWN,
                                   .core_mhz = UNKNOWN,
                                   .mem_active_mb = number[7],
                                   .mem_guest_used_mb = UNKNOWN,
                                   .mem_consumed_mb = number[8],
                                   .mem_overhead_mb = UNKNOWN};
    /* not measured is not zero: the VM stays where it is */
    v->is.demand_unknown = isnan(number[6]) || (isnan(number[7]) && isnan(number[8]));
    return 0;
}

static int read_line(char *line, struct arena *a, struct inventory *inv)
{
    char *words[LINE_WORDS] = {0};
    size_t n = 0;

    while (line && n < LINE_WORDS) {
        char *word = strsep(&line, " ");
        if (word[0])
            words[n++] = word;
    }
    if (n == 6 && strcmp(words[0], "host") == 0)
        return read_host(words, a, inv);
    if (n == LINE_WORDS && strcmp(words[0], "vm") == 0)
        return read_vm(words, a, inv);
    return n == 0 ? 0 : -EINVAL;
}

/* Fills an inventory of our own first: *ret changes only when everything succeeded. */
static int collect(struct collector *c, struct arena *a, struct inventory *ret, struct err *err)
{
    unsigned timeout_s = c->cfg->timeout_s ? c->cfg->timeout_s : TIMEOUT_DEFAULT_S;
    struct http_request request = {
        .method = "GET", .url = c->cfg->url, .deadline_ms = net_now_ms() + (int64_t)timeout_s * 1000};
    struct inventory inv = {.cluster = c->cfg->cluster ? c->cfg->cluster : "cluster"};
    struct http_answer answer;
    int r = http_send(c->http, &request, &answer, err);

    if (r < 0)
        return r;
    if (answer.status != 200)
        r = err_set(err, -EPROTO, "%s: the server answered HTTP %ld", c->cfg->url, answer.status);
    char *rest = answer.body.text;
    for (size_t number = 1; r == 0 && rest; number++) {
        char *line = strsep(&rest, "\n");
        if (read_line(line, a, &inv) < 0)
            r = err_set(err, -EPROTO, "%s: line %zu is neither a host nor a VM", c->cfg->url, number);
    }
    strbuf_release(&answer.body);
    if (r < 0)
        return r;
    inv.time = (instant_s)time(NULL);
    *ret = inv;
    return 0;
}

const struct collector_ops skeleton_collector = {
    .kind = "skeleton", .create = create, .collect = collect, .destroy = destroy};
