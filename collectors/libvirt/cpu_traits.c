/* cpu_traits.c: the table of nova-compute (CPU_TRAITS_MAPPING): features of libvirt as traits. */
#include "collectors/libvirt/cpu_traits.h"

#include "base/texts.h"

#include <string.h>

/* Sorted by trait. */
static const struct {
    const char *trait, *feature;
} traits[] = {
    {"HW_CPU_X86_3DNOW", "3dnow"},
    {"HW_CPU_X86_ABM", "abm"},
    {"HW_CPU_X86_AESNI", "aes"},
    {"HW_CPU_X86_AMD_SVM", "svm"},
    {"HW_CPU_X86_AVX", "avx"},
    {"HW_CPU_X86_AVX2", "avx2"},
    {"HW_CPU_X86_AVX512BITALG", "avx512bitalg"},
    {"HW_CPU_X86_AVX512BW", "avx512bw"},
    {"HW_CPU_X86_AVX512CD", "avx512cd"},
    {"HW_CPU_X86_AVX512DQ", "avx512dq"},
    {"HW_CPU_X86_AVX512ER", "avx512er"},
    {"HW_CPU_X86_AVX512F", "avx512f"},
    {"HW_CPU_X86_AVX512GFNI", "gfni"},
    {"HW_CPU_X86_AVX512IFMA", "avx512ifma"},
    {"HW_CPU_X86_AVX512PF", "avx512pf"},
    {"HW_CPU_X86_AVX512VAES", "vaes"},
    {"HW_CPU_X86_AVX512VBMI", "avx512vbmi"},
    {"HW_CPU_X86_AVX512VBMI2", "avx512vbmi2"},
    {"HW_CPU_X86_AVX512VL", "avx512vl"},
    {"HW_CPU_X86_AVX512VNNI", "avx512vnni"},
    {"HW_CPU_X86_AVX512VPCLMULQDQ", "vpclmulqdq"},
    {"HW_CPU_X86_AVX512VPOPCNTDQ", "avx512-vpopcntdq"},
    {"HW_CPU_X86_BMI", "bmi1"},
    {"HW_CPU_X86_BMI2", "bmi2"},
    {"HW_CPU_X86_CLMUL", "pclmuldq"},
    {"HW_CPU_X86_F16C", "f16c"},
    {"HW_CPU_X86_FMA3", "fma"},
    {"HW_CPU_X86_FMA4", "fma4"},
    {"HW_CPU_X86_INTEL_VMX", "vmx"},
    {"HW_CPU_X86_MMX", "mmx"},
    {"HW_CPU_X86_MPX", "mpx"},
    {"HW_CPU_X86_SHA", "sha-ni"},
    {"HW_CPU_X86_SSE", "sse"},
    {"HW_CPU_X86_SSE2", "sse2"},
    {"HW_CPU_X86_SSE3", "sse3"},
    {"HW_CPU_X86_SSE41", "sse4.1"},
    {"HW_CPU_X86_SSE42", "sse4.2"},
    {"HW_CPU_X86_SSE4A", "sse4a"},
    {"HW_CPU_X86_SSSE3", "ssse3"},
    {"HW_CPU_X86_SVM", "svm"},
    {"HW_CPU_X86_TBM", "tbm"},
    {"HW_CPU_X86_VMX", "vmx"},
    {"HW_CPU_X86_XOP", "xop"},
};

#define N_TRAITS (sizeof traits / sizeof *traits)

struct ids cpu_traits_of(const struct ids *features, struct arena *a)
{
    const char **items = arena_array(a, const char *, N_TRAITS);
    uint32_t n = 0;

    for (size_t i = 0; i < N_TRAITS; i++)
        if (texts_have(features->items, features->n, traits[i].feature))
            items[n++] = traits[i].trait;
    return (struct ids){.items = items, .n = n};
}
