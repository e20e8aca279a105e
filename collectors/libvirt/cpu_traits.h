/* cpu_traits.h: features of CPUs by the names that OpenStack has for them (os-traits). */
#ifndef BALLAST_COLLECTORS_LIBVIRT_CPU_TRAITS_H
#define BALLAST_COLLECTORS_LIBVIRT_CPU_TRAITS_H

#include <ballast/arena.h>
#include <ballast/facts.h>

/* The traits that nova-compute reports for these features of libvirt ("avx2": HW_CPU_X86_AVX2), sorted, each
 * once; features without a trait are left out. */
struct ids cpu_traits_of(const struct ids *features, struct arena *a);

#endif
