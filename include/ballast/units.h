/* units.h: the units of all quantities.
 *
 * CPU in MHz, memory in MiB, time in seconds, power in watts, data rates in MiB/s; a name ends in its unit
 * (_mhz _mb _s _ms _w _mb_s). A collector converts a hypervisor's units once. A value that depends on the
 * resource (a reservation, a demand) is in MHz for RES_CPU and in MiB for RES_MEM.
 */
#ifndef BALLAST_UNITS_H
#define BALLAST_UNITS_H

#include <math.h>
#include <stdint.h>

/* The two resources that are divided and balanced. Everything is done for both by the same code: arrays of
 * RES_COUNT, indexed by this. */
enum resource { RES_CPU, RES_MEM, RES_COUNT };

/* No limit; null in the JSON formats. Compares and clamps like a number. */
#define NO_LIMIT INFINITY

/* An optional quantity that was not given. Test with isnan(), never with ==. */
#define UNKNOWN NAN

/* An index that refers to no object. */
#define IX_NONE UINT32_MAX

#define KIB_PER_MIB 1024.0
#define BYTES_PER_MIB (1024.0 * 1024.0)

/* An instant: seconds since 1970-01-01T00:00:00Z. Zero means never. */
typedef int64_t instant_s;

#endif
