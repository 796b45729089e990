/* From label weights to one number per span and back, for one instruction set and
 * one floating-point type: included by labels.h with R(name), REAL, WORD (the
 * signed integer of the same size) and the constants of exp defined.
 *
 * Two layouts. With `plane` = 0 the labels of a span lie together: rows of a dense
 * array. Otherwise the spans of a label lie together, and `plane` counts the elements
 * from one label to the next: packed scores. There, loops run over BLOCK spans at a
 * time, one label after the other, so that they read contiguous memory whatever the
 * number of labels, and sums stay in the nearest cache. */

/* exp(x), within 2 ulp; 0 below the smallest normal number. `unsafe` becomes 1 if x is NaN
 * or above EXP_LIMIT, in which case the result is of no use. The argument is reduced to
 * |r| <= log(2) / 2; the power of two is put together from the bits of its exponent. */
SNN_INLINE REAL R(exponential_of)(REAL x, WORD *unsafe) {
    union { REAL real; WORD word; } shifted, magic, power;
    REAL v = x, k, r, sum;
    *unsafe |= !(v <= EXP_LIMIT);
    v = v > EXP_UNDERFLOW ? v : EXP_UNDERFLOW; /* also a NaN */
    v = v < EXP_LIMIT ? v : EXP_LIMIT;
    magic.real = EXP_MAGIC;
    shifted.real = v * (REAL)1.4426950408889634 + EXP_MAGIC;
    k = shifted.real - EXP_MAGIC;
    r = v - k * EXP_LN2_HIGH;
    r = r - k * EXP_LN2_LOW;
    sum = EXP_POLYNOMIAL(r);
    power.word = (WORD)((shifted.word - magic.word + EXP_BIAS) * ((WORD)1 << EXP_MANTISSA));
    return x < EXP_UNDERFLOW ? (REAL)0 : sum * power.real;
}

/* Returns whether some x was unsafe. */
static int R(exponential)(REAL *y, const REAL *x, ptrdiff_t n) {
    WORD unsafe = 0;
    for (ptrdiff_t d = 0; d < n; d++) y[d] = R(exponential_of)(x[d], &unsafe);
    return unsafe != 0;
}

/* Largest of the labels of every span, -inf if that is not positive, or their sum, where
 * a span's labels lie together. Returns whether there was a NaN or a weight too large. LABELS_AVX2 does
 * this for float, eight spans at a time. */
static int R(fold_labels)(double *SNN_RESTRICT m, const REAL *SNN_RESTRICT w, ptrdiff_t spans, ptrdiff_t labels,
                          int largest) {
    ptrdiff_t done = 0;
    int bad = 0;
#ifdef LABELS_AVX2
    done = (largest ? largest_of_eight : sum_of_eight)(m, w, spans, labels, &bad);
#endif
    for (ptrdiff_t d = done; d < spans; d++) {
        REAL best = 0;
        double sum = 0.0;
        for (ptrdiff_t t = 0; t < labels; t++) {
            REAL v = w[d * labels + t];
            bad |= !(v < WEIGHT_LIMIT);
            best = v > best ? v : best;
            sum += v;
        }
        m[d] = !largest ? sum : best > 0 ? (double)best : -HUGE_VAL;
    }
    return bad;
}

/* Some labels more, which are planes of weights: best[d] becomes the largest. */
SNN_INLINE WORD R(join_labels)(REAL *SNN_RESTRICT best, const REAL *w, ptrdiff_t plane, const int count, ptrdiff_t size) {
    WORD bad = 0;
    for (ptrdiff_t d = 0; d < size; d++) {
        REAL largest = best[d];
        for (int t = 0; t < count; t++) {
            REAL v = w[t * plane + d];
            bad |= !(v < WEIGHT_LIMIT);
            largest = v > largest ? v : largest;
        }
        best[d] = largest;
    }
    return bad;
}

static void R(write_largest)(double *SNN_RESTRICT m, const REAL *SNN_RESTRICT best, ptrdiff_t size) {
    for (ptrdiff_t d = 0; d < size; d++) m[d] = best[d] > 0 ? (double)best[d] : -HUGE_VAL;
}

/* The same as fold_labels for the largest, where the spans of a label lie together. */
static int R(largest_of_planes)(double *SNN_RESTRICT m, const REAL *w, ptrdiff_t spans, ptrdiff_t labels,
                                ptrdiff_t plane) {
    WORD bad = 0;
    for (ptrdiff_t begin = 0; begin < spans; begin += BLOCK) {
        ptrdiff_t size = spans - begin < BLOCK ? spans - begin : BLOCK, t = 0;
        REAL best[BLOCK] = {0};
        for (; t + TOGETHER <= labels; t += TOGETHER)
            bad |= R(join_labels)(best, w + t * plane + begin, plane, TOGETHER, size);
        for (; t < labels; t++) bad |= R(join_labels)(best, w + t * plane + begin, plane, 1, size);
        R(write_largest)(m + begin, best, size);
    }
    return bad != 0;
}

/* m[d] = the sum of the positive weights of span d, -inf if there are none. */
static int R(sum_of_positive)(double *SNN_RESTRICT m, const REAL *w, ptrdiff_t spans, ptrdiff_t labels,
                              ptrdiff_t plane) {
    ptrdiff_t span_step = plane ? 1 : labels, label_step = plane ? plane : 1;
    WORD bad = 0;
    for (ptrdiff_t begin = 0; begin < spans; begin += BLOCK) {
        ptrdiff_t size = spans - begin < BLOCK ? spans - begin : BLOCK;
        double sum[BLOCK] = {0};
        for (ptrdiff_t t = 0; t < labels; t++)
            for (ptrdiff_t d = 0; d < size; d++) {
                REAL v = w[(begin + d) * span_step + t * label_step];
                bad |= !(v < WEIGHT_LIMIT);
                sum[d] += v > 0 ? (double)v : 0.0;
            }
        for (ptrdiff_t d = 0; d < size; d++) m[begin + d] = sum[d] > 0.0 ? sum[d] : -HUGE_VAL;
    }
    return bad != 0;
}

/* m[d] = the weight of span d in an analysis of highest weight, -inf where that
 * is not above 0: leaving such a mention out is never worse, and has fewer
 * mentions. Returns whether some weight was NaN or too large. */
static int R(highest)(double *SNN_RESTRICT m, const void *weights, ptrdiff_t spans, ptrdiff_t labels,
                      ptrdiff_t plane, int multi_label) {
    const REAL *w = (const REAL *)weights;
    if (multi_label) return R(sum_of_positive)(m, w, spans, labels, plane);
    if (plane) return R(largest_of_planes)(m, w, spans, labels, plane);
    return R(fold_labels)(m, w, spans, labels, 1);
}

/* `exponentials` where the labels of a span lie together. */
static int R(exponentials_together)(double *SNN_RESTRICT e, REAL *o, const REAL *w, ptrdiff_t spans,
                                    ptrdiff_t labels, int multi_label) {
    int unsafe = R(exponential)(o, w, spans * labels);
    if (!multi_label) {
        R(fold_labels)(e, o, spans, labels, 0);
        return unsafe;
    }
    for (ptrdiff_t d = 0; d < spans; d++) {
        double sum = 0.0;
        for (ptrdiff_t t = 0; t < labels; t++) {
            double y = o[d * labels + t];
            sum += y + sum * y;
        }
        e[d] = sum;
    }
    return unsafe;
}

/* What is added up for a block of spans, one label after the other. */
typedef struct R(Sums) {
    double sum[BLOCK];  /* the weight of the span as a plain number */
    double mean[BLOCK]; /* the sum of weight * exp(weight); for sets, of weight times the probability of the label alone */
    REAL best[BLOCK];   /* the largest weight above 0 */
} R(Sums);

/* Some labels more. exp(weight) is also written to y, which is laid out as w, if `keeps`. */
SNN_INLINE WORD R(add_labels)(R(Sums) *sums, REAL *y, const REAL *w, ptrdiff_t plane, const int count, ptrdiff_t size,
                              const int keeps) {
    WORD unsafe = 0;
    SNN_NO_ALIAS
    for (ptrdiff_t d = 0; d < size; d++) {
        REAL sum = 0, mean = 0, best = sums->best[d];
        for (int t = 0; t < count; t++) {
            const REAL v = w[t * plane + d], x = R(exponential_of)(v, &unsafe);
            if (keeps) y[t * plane + d] = x;
            sum += x;
            /* Where exp(weight) is 0 the weight does not count, even -inf. */
            mean += (v > EXP_UNDERFLOW ? v : EXP_UNDERFLOW) * x;
            best = v > best ? v : best;
        }
        sums->sum[d] += sum;
        sums->mean[d] += mean;
        sums->best[d] = best;
    }
    return unsafe;
}

/* One label more of spans with sets of labels. */
static WORD R(add_to_sets)(R(Sums) *sums, REAL *y, const REAL *w, ptrdiff_t size) {
    WORD unsafe = 0;
    SNN_NO_ALIAS
    for (ptrdiff_t d = 0; d < size; d++) {
        const double v = w[d] > EXP_UNDERFLOW ? w[d] : EXP_UNDERFLOW;
        const REAL x = R(exponential_of)(w[d], &unsafe);
        if (y != NULL) y[d] = x;
        sums->mean[d] += v * x / (1.0 + x);
        sums->sum[d] += x + sums->sum[d] * x;
    }
    return unsafe;
}

/* `exponentials` where the spans of a label lie together. */
static int R(exponentials_of_planes)(double *SNN_RESTRICT e, double *SNN_RESTRICT x, double *SNN_RESTRICT m, REAL *out,
                                     const REAL *w, ptrdiff_t spans, ptrdiff_t labels, ptrdiff_t plane,
                                     int multi_label) {
    WORD unsafe = 0;
    for (ptrdiff_t begin = 0; begin < spans; begin += BLOCK) {
        ptrdiff_t size = spans - begin < BLOCK ? spans - begin : BLOCK, t = 0;
        R(Sums) sums = {{0}, {0}, {0}};
        if (multi_label)
            for (; t < labels; t++)
                unsafe |= R(add_to_sets)(&sums, out ? out + t * plane + begin : NULL, w + t * plane + begin, size);
        for (; t + TOGETHER <= labels; t += TOGETHER)
            unsafe |= out ? R(add_labels)(&sums, out + t * plane + begin, w + t * plane + begin, plane, TOGETHER, size, 1)
                          : R(add_labels)(&sums, NULL, w + t * plane + begin, plane, TOGETHER, size, 0);
        for (; t < labels; t++)
            unsafe |= out ? R(add_labels)(&sums, out + t * plane + begin, w + t * plane + begin, plane, 1, size, 1)
                          : R(add_labels)(&sums, NULL, w + t * plane + begin, plane, 1, size, 0);
        for (ptrdiff_t d = 0; d < size; d++) e[begin + d] = sums.sum[d];
        if (x != NULL)
            for (ptrdiff_t d = 0; d < size; d++)
                x[begin + d] = multi_label ? sums.mean[d] * (1.0 + sums.sum[d]) : sums.mean[d];
        if (m != NULL) R(write_largest)(m + begin, sums.best, size);
    }
    return unsafe != 0;
}

/* e[d] = the weight of span d as a plain number, the sum over its labels of
 * exp(weight), or for sets of labels prod(1 + exp(weight)) - 1, summed up without
 * cancellation. exp(weight) of every label goes to `out`, which has the layout of the
 * weights. For planes it may be NULL, and if x is not, x[d] * g[d] is what the labels of
 * span d add to the expected weight of an analysis, g[d] being that of `spread`. If m is not,
 * it becomes that of `highest`, for planes and one label per span.
 * Returns whether a plain number cannot hold it; m is of no use then. */
static int R(exponentials)(double *SNN_RESTRICT e, double *SNN_RESTRICT x, double *SNN_RESTRICT m, void *out,
                           const void *weights, ptrdiff_t spans, ptrdiff_t labels, ptrdiff_t plane, int multi_label) {
    const REAL *w = (const REAL *)weights;
    REAL *o = (REAL *)out;
    int unsafe = plane ? R(exponentials_of_planes)(e, x, m, o, w, spans, labels, plane, multi_label)
                       : R(exponentials_together)(e, o, w, spans, labels, multi_label);
    for (ptrdiff_t d = 0; d < spans; d++) unsafe |= !(e[d] <= SNN_LARGEST_SAFE);
    return unsafe;
}

/* The marginal of every label, in place: `out` holds exp(weight), and the span
 * is a mention with probability e[d] * g[d]. */
static void R(spread)(void *out, const double *e, const double *g, ptrdiff_t spans, ptrdiff_t labels,
                      ptrdiff_t plane, int multi_label) {
    ptrdiff_t span_step = plane ? 1 : labels, label_step = plane ? plane : 1;
    REAL *o = (REAL *)out;
    if (multi_label) {
        for (ptrdiff_t t = 0; t < labels; t++)
            for (ptrdiff_t d = 0; d < spans; d++) {
                double y = o[d * span_step + t * label_step];
                o[d * span_step + t * label_step] = (REAL)(y / (1.0 + y) * (1.0 + e[d]) * g[d]);
            }
    } else if (!plane) {
        for (ptrdiff_t d = 0; d < spans; d++) {
            REAL factor = (REAL)g[d];
            for (ptrdiff_t t = 0; t < labels; t++) o[d * labels + t] *= factor;
        }
    } else {
        for (ptrdiff_t t = 0; t < labels; t++)
            for (ptrdiff_t d = 0; d < spans; d++) o[d + t * plane] *= (REAL)g[d];
    }
}

/* Planes y = x / divisor - less, each with its own distance between labels; y may be x. */
static void R(rescale)(void *y, ptrdiff_t y_plane, const void *x, ptrdiff_t x_plane, ptrdiff_t spans,
                       ptrdiff_t labels, double divisor, double less) {
    const REAL a = (REAL)divisor, b = (REAL)less;
    for (ptrdiff_t t = 0; t < labels; t++) {
        const REAL *from = (const REAL *)x + t * x_plane;
        REAL *to = (REAL *)y + t * y_plane;
        for (ptrdiff_t d = 0; d < spans; d++) to[d] = from[d] / a - b;
    }
}

static const Labels R(snn_labels) = {R(highest), R(exponentials), R(spread), R(rescale)};
