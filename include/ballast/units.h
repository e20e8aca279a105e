/* units.h: the quantities that everything here is measured in.
 *
 * CPU in MHz, memory in MiB, time in seconds, power in watts, data rates in MiB/s; the unit is part of a name
 * (_mhz _mb _s _ms _w _mb_s). What a hypervisor reports otherwise is converted once, where it is read. A
 * value that depends on the resource (a reservation, a demand) is in MHz for RES_CPU and in MiB for RES_MEM.
 */
#ifndef BALLAST_UNITS_H
#define BALLAST_UNITS_H

#include <math.h>
#include <stdint.h>

/* The two resources that are divided and balanced. Everything is done for both by the same code: arrays of
 * RES_COUNT, indexed by this. */
enum resource { RES_CPU, RES_MEM, RES_COUNT };

/* The limit of what has none, null in the JSON formats. Compares and clamps as one would expect. */
#define NO_LIMIT INFINITY

/* An optional quantity that was not given. Test with isnan(), never with ==. */
#define UNKNOWN NAN

/* Objects are indices into the arrays of their snapshot; this is none of them. */
#define IX_NONE UINT32_MAX

#define KIB_PER_MIB 1024.0
#define BYTES_PER_MIB (1024.0 * 1024.0)

/* An instant: seconds since 1970-01-01T00:00:00Z. Zero means never. */
typedef int64_t instant_s;

#endif
