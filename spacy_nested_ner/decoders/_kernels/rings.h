/* The three semirings of semiring.h. */
#ifndef SPACY_NESTED_NER_RINGS_H
#define SPACY_NESTED_NER_RINGS_H

#include <math.h>

#include "isa.h"
#include "semiring.h"

static double plain_sum(double x, double y) { return x + y; }
static double plain_maximum(double x, double y) { return x > y ? x : y; }
static double plain_product(double x, double y) { return x * y; }
static double plain_reciprocal(double x) { return 1.0 / x; }
static double plain_negative(double x) { return -x; }
static double plain_number(double x) { return x; }
static double plain_positive(double x) { return x > 0.0 ? x : 0.0; }

static double log_add_exp(double x, double y) {
    double high = x > y ? x : y, low = x > y ? y : x;
    if (low == -HUGE_VAL) return high;
    return high + log1p(exp(low - high));
}

static double softplus(double x) { return log_add_exp(0.0, x); }

/* Numbers of a linear chart are scaled to lie between 0 and 1 (chart.pxd). While the
 * insides of all spans stay above this bound, whatever underflows elsewhere is smaller
 * than 1e-308 next to a sum of at least 1e-250: a relative error below 1e-57, far under
 * that of a double. An overflow on the way shows here as a NaN or 0. */
#define SNN_SMALLEST_SAFE 1e-250

static int always_safe(double r, const double *x, ptrdiff_t n) {
    (void)r, (void)x, (void)n;
    return 1;
}

/* ---- logarithm: for the few segments that need it, in no hurry ---- */
#define PLUS(x, y) log_add_exp(x, y)
#define TIMES(x, y) ((x) + (y))
#define ZERO (-HUGE_VAL)
#define ONE 0.0
#define RING_PLUS log_add_exp
#define RING_TIMES plain_sum
#define RING_INVERSE plain_negative
#define RING_LOG_ONE_PLUS softplus
#define RING_LINEAR exp
#define RING_IS_SAFE always_safe
#define RING(name) logarithm_##name
#include "semiring_impl.h"
#undef RING
#undef PLUS
#undef RING_PLUS
#undef RING_LOG_ONE_PLUS

/* ---- maximum ---- */
#define PLUS(x, y) ((x) > (y) ? (x) : (y))
#define RING_PLUS plain_maximum
#define RING_LOG_ONE_PLUS plain_positive
#define RING(name) maximum_plain_##name
#include "semiring_impl.h"
#undef RING
#if SNN_HAS_AVX2_BUILD
SNN_BEGIN_AVX2
#define RING(name) maximum_avx2_##name
#include "semiring_impl.h"
#undef RING
SNN_END
#endif
#undef PLUS
#undef TIMES
#undef ZERO
#undef ONE
#undef RING_PLUS
#undef RING_TIMES
#undef RING_INVERSE
#undef RING_LOG_ONE_PLUS
#undef RING_LINEAR
#undef RING_IS_SAFE

/* ---- linear ---- */
#define PLUS(x, y) ((x) + (y))
#define TIMES(x, y) ((x) * (y))
#define ZERO 0.0
#define ONE 1.0
#define RING_PLUS plain_sum
#define RING_TIMES plain_product
#define RING_INVERSE plain_reciprocal
#define RING_LOG_ONE_PLUS log1p
#define RING_LINEAR plain_number
#define RING_IS_SAFE RING(is_safe)
#define SNN_WITH_IS_SAFE
#define RING(name) linear_plain_##name
#include "semiring_impl.h"
#undef RING
#if SNN_HAS_AVX2_BUILD
SNN_BEGIN_AVX2
#define RING(name) linear_avx2_##name
#include "semiring_impl.h"
#undef RING
SNN_END
#endif
#undef PLUS
#undef TIMES
#undef ZERO
#undef ONE
#undef RING_PLUS
#undef RING_TIMES
#undef RING_INVERSE
#undef RING_LOG_ONE_PLUS
#undef RING_LINEAR
#undef RING_IS_SAFE

static const Semiring *semiring_linear(int avx2) {
#if SNN_HAS_AVX2_BUILD
    if (avx2) return &linear_avx2_ring;
#endif
    (void)avx2;
    return &linear_plain_ring;
}

static const Semiring *semiring_maximum(int avx2) {
#if SNN_HAS_AVX2_BUILD
    if (avx2) return &maximum_avx2_ring;
#endif
    (void)avx2;
    return &maximum_plain_ring;
}

static const Semiring *semiring_logarithm(void) { return &logarithm_ring; }

#endif
