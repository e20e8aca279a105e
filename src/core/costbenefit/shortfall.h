/* shortfall.h: how much of a demand that varies goes unserved. */
#ifndef BALLAST_CORE_SHORTFALL_H
#define BALLAST_CORE_SHORTFALL_H

/* E[(D - C)+] for D normal with this mean and standard deviation. Computed with + - × / and sqrt only, so
 * that it is the same on every machine; good to 1e-6 standard deviations. */
double shortfall_expected(double mean, double stddev, double capacity);

#endif
