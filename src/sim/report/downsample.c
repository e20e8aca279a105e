/* downsample.c: reduces a series to a screen's width and keeps every spike. */
#include "sim/report/downsample.h"

#include <math.h>

static struct dot *as_it_is(const double *t, const double *v, size_t n, struct arena *a)
{
    struct dot *dots = arena_array(a, struct dot, n);

    for (size_t i = 0; i < n; i++)
        dots[i] = (struct dot){t[i], v[i]};
    return dots;
}

/* The dots of from ... until: one, two, or a gap. */
static size_t put_bucket(const double *t, const double *v, size_t from, size_t until, struct dot *ret)
{
    size_t low = until;
    size_t high = until;

    for (size_t i = from; i < until; i++) {
        if (!isfinite(v[i]))
            continue;
        low = low == until || v[i] < v[low] ? i : low;
        high = high == until || v[i] > v[high] ? i : high;
    }
    if (low == until) {
        ret[0] = (struct dot){t[from], NAN};
        return 1;
    }
    size_t first = low < high ? low : high;
    size_t second = low < high ? high : low;
    ret[0] = (struct dot){t[first], v[first]};
    ret[1] = (struct dot){t[second], v[second]};
    return first == second ? 1 : 2;
}

struct dot *downsample(const double *t, const double *v, size_t n, size_t buckets, struct arena *a,
                       size_t *ret_n)
{
    if (n <= 2 * buckets) {
        *ret_n = n;
        return as_it_is(t, v, n, a);
    }
    struct dot *dots = arena_array(a, struct dot, 2 * buckets);
    double span = t[n - 1] - t[0];
    size_t kept = 0;

    for (size_t from = 0, until, b = 0; from < n; from = until, b++) {
        double end = t[0] + span * (double)(b + 1) / (double)buckets;
        for (until = from; until < n && (t[until] < end || b + 1 == buckets);)
            until++;
        if (until > from)
            kept += put_bucket(t, v, from, until, dots + kept);
    }
    *ret_n = kept;
    return dots;
}
