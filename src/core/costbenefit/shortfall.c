/* The expected shortfall of a normally distributed demand, and the shortage of headroom. */
#include "core/costbenefit/shortfall.h"

#define Z_MAX 6.0 /* the loss beyond it is negligible */
#define INV_SQRT_2PI 0.3989422804014327

/* exp(-x) for 0 <= x <= Z_MAX² / 2: a series on x / 64, squared six times. */
static double exp_minus(double x)
{
    double y = -x / 64;
    double e = 1 + y * (1 + y / 2 * (1 + y / 3 * (1 + y / 4 * (1 + y / 5 * (1 + y / 6 * (1 + y / 7))))));

    for (int i = 0; i < 6; i++)
        e *= e;
    return e;
}

/* The unit normal loss function L(z) = φ(z) - z Q(z), for z >= 0; Q by Abramowitz and Stegun 26.2.17. */
static double unit_loss(double z)
{
    if (z >= Z_MAX)
        return 0;
    double phi = INV_SQRT_2PI * exp_minus(z * z / 2);
    double t = 1 / (1 + 0.2316419 * z);
    double q = phi * t *
               (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    double loss = phi - z * q;

    return loss > 0 ? loss : 0;
}

double shortfall_expected(double mean, double stddev, double capacity)
{
    double lack = mean - capacity;

    if (!(stddev > 0))
        return lack > 0 ? lack : 0;
    /* L(-z) = z + L(z) */
    return lack > 0 ? lack + stddev * unit_loss(lack / stddev) : stddev * unit_loss(-lack / stddev);
}

/* The integral of the weight, from where the headroom begins. */
double shortfall_of_headroom(double load, double capacity, double headroom)
{
    double width = headroom * capacity;
    double used = load - (capacity - width);

    if (!(width > 0) || used <= 0)
        return 0;
    return used < width ? used * used / (2 * width) : used - width / 2;
}
