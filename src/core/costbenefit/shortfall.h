/* shortfall.h: the expected shortage for a demand that varies. */
#ifndef BALLAST_CORE_SHORTFALL_H
#define BALLAST_CORE_SHORTFALL_H

/* E[(D - C)+] for normal D with this mean and standard deviation. Uses only + - × / and sqrt, so that all
 * machines agree; exact to 1e-6 standard deviations. */
double shortfall_expected(double mean, double stddev, double capacity);

#endif
