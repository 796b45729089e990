/* The best analysis of the flat and of the quadratic search space, a row at a time. */
#ifndef SPACY_NESTED_NER_BEST_H
#define SPACY_NESTED_NER_BEST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa.h"

#if SNN_HAS_AVX2_BUILD
#include <immintrin.h>
#endif

/* What is remembered of a span i..j. */
enum {
    BEST_IS_POSITIVE = 1, /* as a mention it adds weight */
    BEST_IS_LEFTWARD = 2, /* the best inside ends with a long child and what stands left of it */
    BEST_IS_CHILD = 4,    /* as end of a long child: the span itself is that child */
    BEST_IS_TIED = 8,     /* both ways for the inside, or both for the long child, weigh the same */
};

/* Weights that differ by less than this part of the whole are tied. */
#define BEST_TIE 1e-15

/* Spans that are worked through together. */
enum { BEST_PIECE = 512 };

/* Notation: quadratic.pyx. Weights are summed as they are: sums do not overflow. */
typedef struct BestRows {
    /* The highest mention[d] + after[d] of a piece of a row. */
    double (*peak)(const double *mention, const double *after, ptrdiff_t n);
    /* The heaviest of `rest` (token i begins no mention) and mention[d] + after[d]: its
     * weight, and as choice 0 or d + 1; -1 if something else weighs as much. */
    double (*first_level)(const double *mention, const double *after, const double *peaks, double rest, ptrdiff_t n,
                          int32_t *choice);
    /* Row i of the quadratic algorithm from place `begin` to `end`. weight: of its spans, -inf
     * where there is no reason to take one. token: 0 or the weight of the following tokens as
     * mentions; own: the same of token i. long_next: X of row i + 1; long_own: X of row i,
     * elsewhere in memory. mention: C of row i. rest: the weight of the best analysis of all
     * that follows. inside: I of the place before `begin`. Returns I of the last place. */
    double (*row)(const double *weight, const double *token, double own, const double *long_next, double *long_own,
                  uint8_t *flags, double *mention, double rest, double inside, ptrdiff_t begin, ptrdiff_t end);
} BestRows;

#define SNN_MIN(x, y) ((x) < (y) ? (x) : (y))
#define SNN_MAX(x, y) ((x) > (y) ? (x) : (y))

#define ISA(name) name##_plain
#include "best_impl.h"
#undef ISA
#if SNN_HAS_AVX2_BUILD
SNN_BEGIN_AVX2
#define BEST_AVX2
#define ISA(name) name##_avx2
#include "best_impl.h"
#undef ISA
#undef BEST_AVX2
SNN_END_AVX2
#endif

static const BestRows *best_rows(int avx2) {
#if SNN_HAS_AVX2_BUILD
    if (avx2) return &best_kernels_avx2;
#endif
    (void)avx2;
    return &best_kernels_plain;
}

#endif
