/* One source, several instruction sets.
 *
 * A file of row operations is included once for every instruction set worth
 * having, with ISA(name) giving each copy its own names. The choice is made at
 * run time, so that one binary wheel runs on any x86-64 and uses AVX2 where it
 * is there (the span scorer also AVX-512). On other processors (arm64) the plain copy is the only one: its
 * compilers vectorize for NEON by themselves.
 */
#ifndef SPACY_NESTED_NER_ISA_H
#define SPACY_NESTED_NER_ISA_H

#include <stdlib.h>

/* Extensions of GCC and Clang. Other compilers, such as MSVC, get standard C. So does everyone with -DSNN_PORTABLE: tests
 * compile it with `-pedantic-errors`. */
#if defined(__GNUC__) && !defined(SNN_PORTABLE)
#define SNN_GNU 1
#else
#define SNN_GNU 0
#endif

#if SNN_GNU && defined(__x86_64__)
#define SNN_HAS_AVX2_BUILD 1
#if defined(__clang__)
#define SNN_BEGIN_AVX2 _Pragma("clang attribute push(__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#define SNN_BEGIN_AVX512 _Pragma("clang attribute push(__attribute__((target(\"avx512f,avx512dq\"))), apply_to = function)")
#define SNN_END _Pragma("clang attribute pop")
#else
#define SNN_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#define SNN_BEGIN_AVX512 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma,avx512f,avx512dq,prefer-vector-width=512\")")
#define SNN_END _Pragma("GCC pop_options")
#endif
#else
#define SNN_HAS_AVX2_BUILD 0
#endif

#if SNN_GNU
#define SNN_NOINLINE __attribute__((noinline))
#else
#define SNN_NOINLINE
#endif

/* Loops over an argument that is a constant where the function is called are unrolled, so that what they count with is
 * in registers. */
#if SNN_GNU
#define SNN_INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define SNN_INLINE static __forceinline
#else
#define SNN_INLINE static inline
#endif

/* Before a loop: what one round writes, no other one reads. */
#if SNN_GNU && defined(__clang__)
#define SNN_NO_ALIAS _Pragma("clang loop vectorize(assume_safety)")
#elif SNN_GNU
#define SNN_NO_ALIAS _Pragma("GCC ivdep")
#else
#define SNN_NO_ALIAS
#endif

#if defined(_MSC_VER)
#define SNN_RESTRICT __restrict
#else
#define SNN_RESTRICT restrict
#endif

/* Environment variables for tests, and for comparing machines: SPACY_NESTED_NER_PLAIN=1
 * turns the choice off, SPACY_NESTED_NER_NO_AVX512=1 leaves AVX2. */
static inline int snn_is_set(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] == '1';
}

static inline int snn_use_avx2(void) {
#if SNN_HAS_AVX2_BUILD
    if (snn_is_set("SPACY_NESTED_NER_PLAIN")) return 0;
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}

static inline int snn_use_avx512(void) {
#if SNN_HAS_AVX2_BUILD
    if (snn_is_set("SPACY_NESTED_NER_NO_AVX512") || !snn_use_avx2()) return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
    return 0;
#endif
}

#endif
