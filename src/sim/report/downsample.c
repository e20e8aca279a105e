/* downsample.c: reduces series to a screen's width and keeps every spike. */
#include "sim/report/downsample.h"

#include <math.h>
#include <stdbool.h>

void downsample_init(struct downsample *d, const double *t, size_t n, size_t buckets, struct arena *a)
{
    bool all = n <= 2 * buckets;
    size_t n_max = all ? n : buckets;
    size_t *from = arena_array(a, size_t, n_max + 1);
    double *kept = arena_array(a, double, 2 * n_max);
    double span = n > 0 ? t[n - 1] - t[0] : 0;
    size_t b = 0;
    size_t n_kept = 0;

    for (size_t at = 0, until, part = 0; at < n; at = until, part++) {
        double end = t[0] + span * (double)(part + 1) / (double)buckets;
        for (until = all ? at + 1 : at; until < n && !all && (t[until] < end || part + 1 >= buckets);)
            until++;
        if (until == at)
            continue;
        from[b++] = at;
        kept[n_kept++] = t[at];
        if (until > at + 1)
            kept[n_kept++] = t[until - 1];
    }
    from[b] = n;
    *d = (struct downsample){.t = kept, .n_kept = n_kept, .n_buckets = b, .from = from};
}

/* The indices of the lowest and the highest known value; both `until`: none. */
static void find_extremes(const double *v, size_t from, size_t until, size_t *ret_low, size_t *ret_high)
{
    size_t low = until;
    size_t high = until;

    for (size_t i = from; i < until; i++) {
        if (!isfinite(v[i]))
            continue;
        low = low == until || v[i] < v[low] ? i : low;
        high = high == until || v[i] > v[high] ? i : high;
    }
    *ret_low = low;
    *ret_high = high;
}

void downsample_reduce(const struct downsample *d, const double *v, double *ret)
{
    size_t k = 0;

    for (size_t b = 0; b < d->n_buckets; b++) {
        size_t from = d->from[b];
        size_t until = d->from[b + 1];
        size_t low;
        size_t high;
        find_extremes(v, from, until, &low, &high);
        bool known = low < until;
        ret[k++] = known ? v[low < high ? low : high] : NAN;
        if (until > from + 1)
            ret[k++] = known ? v[low < high ? high : low] : NAN;
    }
}
