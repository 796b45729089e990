/* From label weights to one number per span and back, for one instruction set and
 * one floating-point type: included by labels.h with R(name), REAL, WORD (the
 * signed integer of the same size) and the constants of exp defined.
 *
 * Strides count elements. Either a span's labels lie together (label_stride 1:
 * rows of a dense array) or a label's spans do (span_stride 1: packed scores,
 * where every loop below runs over contiguous memory whatever the number of
 * labels). */

/* exp(x), within 2 ulp; 0 below the smallest normal number. Returns whether some
 * x was NaN or above EXP_LIMIT, in which case the result is of no use. The
 * argument is reduced to |r| <= log(2) / 2; the power of two is put together from
 * the bits of its exponent. */
static int R(exponential)(REAL *y, const REAL *x, ptrdiff_t n) {
    WORD unsafe = 0;
    for (ptrdiff_t d = 0; d < n; d++) {
        union { REAL real; WORD word; } shifted, magic, power;
        REAL v = x[d], k, r, sum;
        unsafe |= !(v <= EXP_LIMIT);
        v = v > EXP_UNDERFLOW ? v : EXP_UNDERFLOW; /* also a NaN */
        v = v < EXP_LIMIT ? v : EXP_LIMIT;
        magic.real = EXP_MAGIC;
        shifted.real = v * (REAL)1.4426950408889634 + EXP_MAGIC;
        k = shifted.real - EXP_MAGIC;
        r = v - k * EXP_LN2_HIGH;
        r = r - k * EXP_LN2_LOW;
        sum = EXP_POLYNOMIAL(r);
        power.word = (WORD)((shifted.word - magic.word + EXP_BIAS) * ((WORD)1 << EXP_MANTISSA));
        y[d] = x[d] < EXP_UNDERFLOW ? (REAL)0 : sum * power.real;
    }
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

/* The same as fold_labels for the largest, where a label's spans lie together. */
static int R(largest_of_planes)(double *SNN_RESTRICT m, const REAL *w, ptrdiff_t spans, ptrdiff_t labels,
                                ptrdiff_t label_stride) {
    WORD bad = 0;
    for (ptrdiff_t begin = 0; begin < spans; begin += 64) {
        ptrdiff_t size = spans - begin < 64 ? spans - begin : 64;
        REAL best[64] = {0};
        for (ptrdiff_t t = 0; t < labels; t++) {
            const REAL *plane = w + t * label_stride + begin;
            for (ptrdiff_t d = 0; d < size; d++) {
                REAL v = plane[d];
                bad |= !(v < WEIGHT_LIMIT);
                best[d] = v > best[d] ? v : best[d];
            }
        }
        for (ptrdiff_t d = 0; d < size; d++) m[begin + d] = best[d] > 0 ? (double)best[d] : -HUGE_VAL;
    }
    return bad != 0;
}

/* m[d] = the weight of span d in an analysis of highest weight, -inf where that
 * is not above 0: leaving such a mention out is never worse, and has fewer
 * mentions. Returns whether some weight was NaN or too large. */
static int R(highest)(double *SNN_RESTRICT m, const void *weights, ptrdiff_t spans, ptrdiff_t labels,
                      ptrdiff_t span_stride, ptrdiff_t label_stride, int multi_label) {
    const REAL *w = (const REAL *)weights;
    int bad = 0;
    if (!multi_label) {
        if (label_stride == 1) return R(fold_labels)(m, w, spans, labels, 1);
        return R(largest_of_planes)(m, w, spans, labels, label_stride);
    }
    for (ptrdiff_t d = 0; d < spans; d++) {
        double sum = 0.0;
        for (ptrdiff_t t = 0; t < labels; t++) {
            REAL v = w[d * span_stride + t * label_stride];
            bad |= !(v < WEIGHT_LIMIT);
            sum += v > 0 ? (double)v : 0.0;
        }
        m[d] = sum > 0.0 ? sum : -HUGE_VAL;
    }
    return bad;
}

/* e[d] = the weight of span d as a plain number, the sum over its labels of
 * exp(weight), or for sets of labels prod(1 + exp(weight)) - 1, summed up without
 * cancellation. exp(weight) of every label goes to `out` (same span stride).
 * Returns whether a plain number cannot hold it. */
static int R(exponentials)(double *SNN_RESTRICT e, void *out, ptrdiff_t out_label_stride, const void *weights,
                           ptrdiff_t spans, ptrdiff_t labels, ptrdiff_t span_stride, ptrdiff_t label_stride,
                           int multi_label) {
    const REAL *w = (const REAL *)weights;
    REAL *o = (REAL *)out;
    int unsafe = 0;
    if (label_stride == 1) {
        unsafe = R(exponential)(o, w, spans * labels);
    } else {
        for (ptrdiff_t t = 0; t < labels; t++)
            unsafe |= R(exponential)(o + t * out_label_stride, w + t * label_stride, spans);
    }
    if (label_stride == 1 && !multi_label) {
        R(fold_labels)(e, o, spans, labels, 0);
    } else {
        for (ptrdiff_t d = 0; d < spans; d++) e[d] = 0.0;
        for (ptrdiff_t t = 0; t < labels; t++) {
            const REAL *row = o + t * out_label_stride;
            if (multi_label)
                for (ptrdiff_t d = 0; d < spans; d++) {
                    double x = row[d * span_stride];
                    e[d] += x + e[d] * x;
                }
            else
                for (ptrdiff_t d = 0; d < spans; d++) e[d] += row[d];
        }
    }
    for (ptrdiff_t d = 0; d < spans; d++) unsafe |= !(e[d] <= SNN_LARGEST_SAFE);
    return unsafe;
}

/* The marginal of every label, in place: `out` holds exp(weight), and the span
 * is a mention with probability e[d] * g[d]. */
static void R(spread)(void *out, const double *e, const double *g, ptrdiff_t spans, ptrdiff_t labels,
                      ptrdiff_t span_stride, ptrdiff_t label_stride, int multi_label) {
    REAL *o = (REAL *)out;
    if (multi_label) {
        for (ptrdiff_t d = 0; d < spans; d++)
            for (ptrdiff_t t = 0; t < labels; t++) {
                double x = o[d * span_stride + t * label_stride];
                o[d * span_stride + t * label_stride] = (REAL)(x / (1.0 + x) * (1.0 + e[d]) * g[d]);
            }
    } else if (label_stride == 1) {
        for (ptrdiff_t d = 0; d < spans; d++) {
            REAL factor = (REAL)g[d];
            for (ptrdiff_t t = 0; t < labels; t++) o[d * labels + t] *= factor;
        }
    } else {
        for (ptrdiff_t t = 0; t < labels; t++)
            for (ptrdiff_t d = 0; d < spans; d++) o[d + t * label_stride] *= (REAL)g[d];
    }
}

static const Labels R(snn_labels) = {R(highest), R(exponentials), R(spread)};
