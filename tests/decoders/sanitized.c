/* All row operations on all kinds of numbers, for both instruction sets: compiled with sanitizers by test_sanitizers.py,
 * it must end with 0. Arrays come from malloc with no room to spare, so that a read or write outside is noticed. */
#include <assert.h>
#include <string.h>
#include <stdio.h>

#include "labels.h"
#include "rings.h"

static const double NUMBERS[] = {NAN,  -NAN, HUGE_VAL, -HUGE_VAL, 0.0,   -0.0,   1.0,    -1.0,   79.9,  80.1, -86.9, -87.1,
                                 679., 681., -707.,    -709.,     1e30,  -1e30,  3e38,   -3e38,  1e289, 1e290, 1e308, -1e308,
                                 4e-324, -4e-324, 1e-300, 0.5, 88.8, 709.9, 1e19, -1e19};
enum { N_NUMBERS = sizeof(NUMBERS) / sizeof(*NUMBERS) };

static double number(int kind, ptrdiff_t place) {
    if (kind < N_NUMBERS) return NUMBERS[kind];                                 /* all the same */
    if (kind == N_NUMBERS) return NUMBERS[(place * 7) % N_NUMBERS];             /* all kinds */
    return (double)((place * 7919 + kind * 31) % 1000) / 100.0 - 5.0;           /* ordinary ones */
}

static double as_float(double x) { return x > 3.4e38 ? HUGE_VAL : x < -3.4e38 ? -HUGE_VAL : x; }

static void *filled(ptrdiff_t n, int kind, int is_double) {
    void *array = malloc((size_t)n * (is_double ? 8 : 4) + (n == 0));
    for (ptrdiff_t k = 0; k < n; k++) {
        if (is_double) ((double *)array)[k] = number(kind, k);
        else ((float *)array)[k] = (float)as_float(number(kind, k));
    }
    return array;
}

static int is_refused(double x, int is_double) { return !(x < (is_double ? 1e290 : HUGE_VAL)); }

static void try_labels(int instructions, int is_double, ptrdiff_t spans, ptrdiff_t labels, int packed, int multi_label, int kind) {
    const Labels *kernels = labels_for(is_double, instructions);
    ptrdiff_t plane = packed ? (spans > 0 ? spans : 1) : 0;
    void *weights = filled(spans * labels, kind, is_double), *out = filled(spans * labels, N_NUMBERS + 1, is_double);
    double *m = filled(spans, N_NUMBERS + 1, 1), *factor = filled(spans, N_NUMBERS + 2, 1);
    double *expected = filled(spans, N_NUMBERS + 1, 1);
    int bad = 0, unsafe = 0;
    for (ptrdiff_t k = 0; k < spans * labels; k++) {
        double x = is_double ? number(kind, k) : as_float(number(kind, k));
        bad |= is_refused(x, is_double);
        unsafe |= !(x <= (is_double ? 680.0 : 80.0));
    }
    int said = kernels->highest(m, weights, spans, labels, plane, multi_label);
    assert(said == bad);
    for (ptrdiff_t d = 0; d < spans && !bad; d++) assert(m[d] > 0 || m[d] == -HUGE_VAL);
    double *again = filled(spans, N_NUMBERS + 1, 1), *highest = packed && !multi_label ? again : NULL;
    double *e = filled(spans, N_NUMBERS + 1, 1);
    said = kernels->exponentials(e, packed ? expected : NULL, highest, out, weights, spans, labels, plane, multi_label);
    assert(said || !unsafe);
    for (ptrdiff_t d = 0; d < spans && !said && highest; d++) assert(m[d] == highest[d]);
    memcpy(m, e, sizeof(double) * (size_t)spans);
    if (packed) assert(kernels->exponentials(m, NULL, NULL, NULL, weights, spans, labels, plane, multi_label) == said);
    if (!said) {
        for (ptrdiff_t d = 0; d < spans; d++) assert(m[d] >= 0 && isfinite(expected[d]));
        kernels->spread(out, m, factor, spans, labels, plane, multi_label);
    }
    if (packed) {
        kernels->rescale(out, plane, weights, plane, spans, labels, number(kind, 1), number(kind, 2));
        kernels->rescale(out, plane, out, plane, spans, labels, 1.0, 0.5); /* in place */
    }
    free(weights), free(out), free(m), free(factor), free(expected), free(again), free(e);
}

/* Rows that may be the same are; those that must not overlap do not. */
static void try_rows(const Semiring *ring, ptrdiff_t n, int kind) {
    double *y = filled(n + 1, kind, 1), *x = filled(n + 1, kind + 1, 1), *z = filled(n + 1, kind + 2, 1);
    double *u = filled(n + 1, kind + 3, 1), *row = filled(n + 4, kind, 1);
    const double *rows[4] = {x, z, u, row + 1};
    ring->one_plus(x, x, n);
    ring->shift(x, number(kind, 3), x, n);
    ring->scale(x, number(kind, 4), x, n);
    ring->multiply(x, x, z, n);
    ring->add(x, x, z, n);
    if (n > 1) ring->scale(x, number(kind, 5), x + 1, n - 1); /* to the left, as in quadratic.pyx */
    ring->add_scaled(y, number(kind, 5), x, n);
    ring->add_product(y, x, z, n);
    ring->dot(x, z, n);
    ring->multiply_sum(y, x, z, n);
    ring->add_scaled_dot(y, number(kind, 6), x, z, n);
    ring->scale_sum(y, number(kind, 7), z, number(kind, 8), x, n);
    if (n > 0) {
        ring->scan(y, x, u, number(kind, 9), z, n);
        ring->scan_back(y, x, u, z, n);
        ring->is_safe(number(kind, 10), x, n);
    }
    if (n > 4) ring->solve4(row + 1, x + 1, rows, n - 3);
    ring->plus(number(kind, 0), number(kind, 1));
    ring->log_one_plus(number(kind, 2));
    ring->linear(number(kind, 2));
    free(y), free(x), free(z), free(u), free(row);
}

int main(void) {
    const ptrdiff_t lengths[] = {0, 1, 2, 7, 8, 9, 17, 63, 64, 65, 130, 257};
    const ptrdiff_t labels[] = {0, 1, 3, 8, 9, 16};
    for (int instructions = 0; instructions <= snn_use_avx2() + snn_use_avx512(); instructions++)
        for (int kind = 0; kind < N_NUMBERS + 3; kind++)
            for (int k = 0; k < 12; k++) {
                for (int t = 0; t < 6; t++)
                    for (int option = 0; option < 8; option++)
                        try_labels(instructions, option & 1, lengths[k], labels[t], option >> 1 & 1, option >> 2 & 1, kind);
                try_rows(semiring_linear(instructions > 0), lengths[k], kind);
                try_rows(semiring_maximum(instructions > 0), lengths[k], kind);
                try_rows(semiring_logarithm(), lengths[k], kind);
            }
    printf("%d\n", snn_use_avx2());
    return 0;
}
