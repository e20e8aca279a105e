/* shortfall.h: how much of a load goes unserved, or uses what should stay free. */
#ifndef BALLAST_CORE_SHORTFALL_H
#define BALLAST_CORE_SHORTFALL_H

/* E[(D - C)+] for normal D with this mean and standard deviation. Uses only + - × / and sqrt, so that all
 * machines agree; exact to 1e-6 standard deviations. */
double shortfall_expected(double mean, double stddev, double capacity);

/* The part of a load that a host's headroom should keep free, with a weight that grows from 0 where the
 * headroom begins to 1 at the capacity, and stays 1 above. headroom: the part of the capacity that should
 * stay free, 0 ... 1; 0: none. */
double shortfall_of_headroom(double load, double capacity, double headroom);

#endif
