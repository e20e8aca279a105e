/* downsample.h: a long series as a screen can show it. */
#ifndef BALLAST_SIM_REPORT_DOWNSAMPLE_H
#define BALLAST_SIM_REPORT_DOWNSAMPLE_H

#include <ballast/arena.h>

struct dot {
    double t, v; /* v NAN: a gap */
};

/* At most two dots for each of `buckets` equal parts of the time: the lowest and the highest value there, in
 * the order in which they came, so that no spike is lost. A part in which nothing is known becomes one gap. A
 * series that is short enough stays as it is. */
struct dot *downsample(const double *t, const double *v, size_t n, size_t buckets, struct arena *a,
                       size_t *ret_n);

#endif
