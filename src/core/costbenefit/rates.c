/* Looks up copy rates between slots: of the pair, of the hosts, or the setting. */
#include "core/costbenefit/rates.h"

static double own_rate(const struct layout *l, uint32_t slot)
{
    double rate = l->snap->hosts[l->slot_host[slot]].is.migration_rate_mb_s;

    return isnan(rate) ? l->policy->migration_rate_mb_s : rate;
}

static void find_pairs(struct rates *r, struct arena *a)
{
    const struct snapshot *s = r->l->snap;
    uint32_t next = 0;

    if (s->n_migration_rates == 0)
        return;
    r->first = arena_array(a, uint32_t, (size_t)s->n_hosts + 1);
    for (uint32_t h = 0; h <= s->n_hosts; h++) {
        while (next < s->n_migration_rates && s->migration_rates[next].from < h)
            next++;
        r->first[h] = next;
    }
}

/* Whether the pair's rate is ever needed: its source is a slot, and its destination may receive VMs. */
static bool pair_counts(const struct layout *l, const struct migration_rate *m)
{
    return l->host_slot[m->from] != IX_NONE && l->host_slot[m->to] < l->n_on;
}

/* Upper bounds, from the hosts' own rates first, then from the pairs. */
static void bound_rates(struct rates *r)
{
    const struct layout *l = r->l;
    double most = 0;
    double least = NO_LIMIT;

    for (uint32_t i = 0; i < l->n_slots; i++) {
        most = fmax(most, r->own[i]);
        least = fmin(least, r->own[i]);
    }
    r->differ = most > least;
    for (uint32_t i = 0; i < l->n_slots; i++) {
        r->fastest[i] = fmin(r->own[i], most);
        r->into[i] = r->fastest[i];
        r->single[i] = r->own[i] == least;
    }
    for (uint32_t i = 0; i < l->snap->n_migration_rates; i++) {
        const struct migration_rate *m = &l->snap->migration_rates[i];
        if (!pair_counts(l, m))
            continue;
        uint32_t from = l->host_slot[m->from];
        r->differ = true;
        r->single[from] = false;
        uint32_t to = l->host_slot[m->to];
        r->fastest[from] = fmax(r->fastest[from], m->rate_mb_s);
        r->into[to] = fmax(r->into[to], m->rate_mb_s);
    }
}

void rates_init(struct rates *r, const struct layout *l, struct arena *a)
{
    size_t n = (size_t)l->n_slots + 1;

    *r = (struct rates){.l = l,
                        .own = arena_array(a, double, n),
                        .fastest = arena_array(a, double, n),
                        .into = arena_array(a, double, n),
                        .single = arena_array(a, bool, n)};
    /* no migration starts there */
    r->own[l->outside] = l->policy->migration_rate_mb_s;
    r->fastest[l->outside] = l->policy->migration_rate_mb_s;
    for (uint32_t i = 0; i < l->n_slots; i++)
        r->own[i] = own_rate(l, i);
    find_pairs(r, a);
    bound_rates(r);
}

const struct migration_rate *rates_pairs_of(const struct rates *r, uint32_t slot, uint32_t *ret_n)
{
    uint32_t host = r->l->slot_host[slot];

    *ret_n = r->first && host != IX_NONE ? r->first[host + 1] - r->first[host] : 0;
    return *ret_n > 0 ? &r->l->snap->migration_rates[r->first[host]] : NULL;
}

/* The known rate of the pair; UNKNOWN. */
static double pair_rate(const struct rates *r, uint32_t from_host, uint32_t to_host)
{
    const struct migration_rate *pairs = r->l->snap->migration_rates;
    uint32_t low = r->first[from_host];
    uint32_t high = r->first[from_host + 1];

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (pairs[mid].to == to_host)
            return pairs[mid].rate_mb_s;
        if (pairs[mid].to < to_host)
            low = mid + 1;
        else
            high = mid;
    }
    return UNKNOWN;
}

double rates_between(const struct rates *r, uint32_t from_slot, uint32_t to_slot)
{
    if (r->first) {
        double rate = pair_rate(r, r->l->slot_host[from_slot], r->l->slot_host[to_slot]);
        if (!isnan(rate))
            return rate;
    }
    return fmin(r->own[from_slot], r->own[to_slot]);
}
