/* One source, several instruction sets.
 *
 * A file of row operations is included once for every instruction set worth
 * having, with ISA(name) giving each copy its own names. The choice is made at
 * run time, so that one binary wheel runs on any x86-64 and uses AVX2 where it
 * is there. On other processors (arm64) the plain copy is the only one: its
 * compilers vectorize for NEON by themselves.
 */
#ifndef SPACY_NESTED_NER_ISA_H
#define SPACY_NESTED_NER_ISA_H

#include <stdlib.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define SNN_HAS_AVX2_BUILD 1
#if defined(__clang__)
#define SNN_BEGIN_AVX2 _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#define SNN_END_AVX2 _Pragma("clang attribute pop")
#else
#define SNN_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#define SNN_END_AVX2 _Pragma("GCC pop_options")
#endif
#else
#define SNN_HAS_AVX2_BUILD 0
#endif

#if defined(__GNUC__)
#define SNN_NOINLINE __attribute__((noinline))
#else
#define SNN_NOINLINE
#endif

#if defined(_MSC_VER)
#define SNN_RESTRICT __restrict
#else
#define SNN_RESTRICT restrict
#endif

/* Environment variable SPACY_NESTED_NER_PLAIN=1 turns the choice off, for tests
 * and for comparing machines. */
static inline int snn_use_avx2(void) {
#if SNN_HAS_AVX2_BUILD
    const char *plain = getenv("SPACY_NESTED_NER_PLAIN");
    if (plain != NULL && plain[0] == '1') return 0;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

#endif
