/* The algebra the dynamic programs are written in.
 *
 * A recurrence of this project is a sequence of operations on rows of a chart,
 * and runs unchanged over three commutative semirings on doubles:
 *
 *              plus          times   zero   one   used for
 *   LINEAR     x + y         x * y   0      1     log-partition, marginals, samples
 *   LOGARITHM  log-add-exp   x + y   -inf   0     the same, for extreme weights
 *   MAXIMUM    max           x + y   -inf   0     the analysis of highest weight
 *
 * Below, + and * mean plus and times. Row operations take contiguous rows, so that a
 * compiler vectorizes them; semiring_impl.h has each of them once, rings.h makes the
 * three semirings of it, for the plain instruction set and for AVX2. Operations never
 * allocate and keep no state.
 *
 * Which rows may overlap. y is written, all others are read.
 *   one_plus, shift, scale, multiply, add   go from left to right, one place at a time:
 *       y may be x or z, or begin before them in the same memory.
 *   all others   promise the compiler with `restrict` that y overlaps no other row. The
 *       rows that are only read may be the same.
 */
#ifndef SPACY_NESTED_NER_SEMIRING_H
#define SPACY_NESTED_NER_SEMIRING_H

#include <stddef.h>

typedef struct Semiring {
    double zero, one;
    double (*plus)(double x, double y);
    double (*times)(double x, double y);
    double (*inverse)(double x);
    /* The natural logarithm of what (one + x) means. */
    double (*log_one_plus)(double x);
    /* The plain number that x means. */
    double (*linear)(double x);

    /* y[d] = one + x[d] */
    void (*one_plus)(double *y, const double *x, ptrdiff_t n);
    /* y[d] = a + x[d] */
    void (*shift)(double *y, double a, const double *x, ptrdiff_t n);
    /* y[d] = a * x[d] */
    void (*scale)(double *y, double a, const double *x, ptrdiff_t n);
    /* y[d] = x[d] * z[d] */
    void (*multiply)(double *y, const double *x, const double *z, ptrdiff_t n);
    /* y[d] = x[d] + z[d] */
    void (*add)(double *y, const double *x, const double *z, ptrdiff_t n);
    /* y[d] = y[d] + a * x[d] */
    void (*add_scaled)(double *y, double a, const double *x, ptrdiff_t n);
    /* y[d] = y[d] + x[d] * z[d] */
    void (*add_product)(double *y, const double *x, const double *z, ptrdiff_t n);
    /* x[0] * z[0] + ... + x[n-1] * z[n-1] */
    double (*dot)(const double *x, const double *z, ptrdiff_t n);
    /* y[d] = x[d] * z[d]; returns the sum of all y[d] */
    double (*multiply_sum)(double *y, const double *x, const double *z, ptrdiff_t n);
    /* y[d] = y[d] + a * x[d]; returns x[0] * z[0] + ... */
    double (*add_scaled_dot)(double *y, double a, const double *x, const double *z, ptrdiff_t n);
    /* y[d] = r * (z[d] + a * x[d]) */
    void (*scale_sum)(double *y, double r, const double *z, double a, const double *x, ptrdiff_t n);
    /* y[0] = one; y[d+1] = (one + w[d]) * u[d] * y[d]  +  a * x[d], up to y[n-1] */
    void (*scan)(double *y, const double *w, const double *u, double a, const double *x, ptrdiff_t n);
    /* y[n-1] = w[n-1] * b[n-1]; y[d] = w[d] * b[d]  +  (one + w[d]) * u[d] * y[d+1] */
    void (*scan_back)(double *y, const double *w, const double *u, const double *b, ptrdiff_t n);
    /* Four steps of y <- y + (one + w[k-1]) * y[k-1] * x_k, where row x_k begins at
     * y[k], x_k+1 at y[k+1] and so on: y and w point to place k, x to the four rows,
     * and n (at least 4) places of y are left. Each step uses what the one before
     * it has made of its first place. */
    void (*solve4)(double *y, const double *w, const double *const *x, ptrdiff_t n);
    /* Whether every r * x[d] is far enough from underflow and overflow. */
    int (*is_safe)(double r, const double *x, ptrdiff_t n);
} Semiring;

#endif
