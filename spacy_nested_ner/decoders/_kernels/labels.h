/* Labels leave the dynamic programs at once (rule (g) of the paper sums or maximizes over
 * them): a row of spans with their label weights becomes a row with one number per span,
 * and marginals of spans are spread over the labels again at the end. */
#ifndef SPACY_NESTED_NER_LABELS_H
#define SPACY_NESTED_NER_LABELS_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "isa.h"

#if SNN_HAS_AVX2_BUILD
#include <immintrin.h>
#endif

#define SNN_LARGEST_SAFE 1e300

/* Weights at or above this are refused: sums of weights then never overflow. */
#define SNN_WEIGHT_LIMIT 1e290

/* Spans whose labels are summed together, where the spans of a label lie together. */
#define BLOCK 128
/* Planes that are read together. Their numbers are added up in the precision of the weights. */
#define TOGETHER 4

typedef struct Labels {
    int (*highest)(double *m, const void *weights, ptrdiff_t spans, ptrdiff_t labels, ptrdiff_t plane,
                   int multi_label);
    int (*exponentials)(double *e, double *x, double *m, void *out, const void *weights, ptrdiff_t spans,
                        ptrdiff_t labels, ptrdiff_t plane, int multi_label);
    void (*spread)(void *out, const double *e, const double *g, ptrdiff_t spans, ptrdiff_t labels, ptrdiff_t plane,
                   int multi_label);
    void (*rescale)(void *y, ptrdiff_t y_plane, const void *x, ptrdiff_t x_plane, ptrdiff_t spans, ptrdiff_t labels,
                    double divisor, double less);
} Labels;

/* float: arguments from -87 to 80, Taylor polynomial of degree 7 (remainder 5e-9). */
#define REAL float
#define WORD int
#define WEIGHT_LIMIT HUGE_VALF
#define EXP_LIMIT 80.0f
#define EXP_UNDERFLOW (-87.0f)
#define EXP_MAGIC 12582912.0f
#define EXP_LN2_HIGH 0.693359375f
#define EXP_LN2_LOW (-2.12194440e-4f)
#define EXP_BIAS 127
#define EXP_MANTISSA 23
#define EXP_POLYNOMIAL(r) \
    (1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040))))))))
#define R(name) name##_float_plain
#include "labels_impl.h"
#undef R
#if SNN_HAS_AVX2_BUILD
SNN_BEGIN_AVX2
#include "labels_avx2.h"
#define LABELS_AVX2
#define R(name) name##_float_avx2
#include "labels_impl.h"
#undef R
SNN_END
SNN_BEGIN_AVX512
#define R(name) name##_float_avx512
#include "labels_impl.h"
#undef R
#undef LABELS_AVX2
SNN_END
#endif
#undef REAL
#undef WORD
#undef WEIGHT_LIMIT
#undef EXP_LIMIT
#undef EXP_UNDERFLOW
#undef EXP_MAGIC
#undef EXP_LN2_HIGH
#undef EXP_LN2_LOW
#undef EXP_BIAS
#undef EXP_MANTISSA
#undef EXP_POLYNOMIAL

/* double: arguments from -708 to 680, Taylor polynomial of degree 13 (remainder 5e-18). */
#define REAL double
#define WORD long long
#define WEIGHT_LIMIT SNN_WEIGHT_LIMIT
#define EXP_LIMIT 680.0
#define EXP_UNDERFLOW (-708.0)
#define EXP_MAGIC 6755399441055744.0
#define EXP_LN2_HIGH 6.93147180369123816490e-01
#define EXP_LN2_LOW 1.90821492927058770002e-10
#define EXP_BIAS 1023
#define EXP_MANTISSA 52
#define EXP_TAIL(r) \
    (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r * (1.0 / 3628800 + r * (1.0 / 39916800 + r * (1.0 / 479001600 + r * (1.0 / 6227020800.0)))))))
#define EXP_POLYNOMIAL(r) \
    (1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * EXP_TAIL(r))))))))
#define R(name) name##_double_plain
#include "labels_impl.h"
#undef R
#if SNN_HAS_AVX2_BUILD
SNN_BEGIN_AVX2
#define R(name) name##_double_avx2
#include "labels_impl.h"
#undef R
SNN_END
#endif

/* `instructions`: 0 for plain C, 1 for AVX2, 2 for AVX-512, which only floats have. */
static const Labels *labels_for(int is_double, int instructions) {
#if SNN_HAS_AVX2_BUILD
    if (instructions == 2 && !is_double) return &snn_labels_float_avx512;
    if (instructions) return is_double ? &snn_labels_double_avx2 : &snn_labels_float_avx2;
#endif
    (void)instructions;
    return is_double ? &snn_labels_double_plain : &snn_labels_float_plain;
}

#endif
