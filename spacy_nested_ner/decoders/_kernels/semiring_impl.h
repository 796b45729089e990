/* The row operations of semiring.h, for one semiring and one instruction set:
 * included by rings.h with PLUS, TIMES, ZERO, ONE and RING(name) defined. Reductions
 * keep eight running results and scans go four places at a time, because a compiler
 * may not reorder floating-point operations by itself. */

static void RING(one_plus)(double *y, const double *x, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = PLUS(x[d], ONE);
}

static void RING(shift)(double *y, double a, const double *x, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = PLUS(x[d], a);
}

static void RING(scale)(double *y, double a, const double *x, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = TIMES(a, x[d]);
}

static void RING(multiply)(double *y, const double *x, const double *z, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = TIMES(x[d], z[d]);
}

static void RING(add)(double *y, const double *x, const double *z, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = PLUS(x[d], z[d]);
}

static void RING(add_scaled)(double *SNN_RESTRICT y, double a, const double *SNN_RESTRICT x, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = PLUS(TIMES(a, x[d]), y[d]);
}

static void RING(add_product)(double *SNN_RESTRICT y, const double *SNN_RESTRICT x,
                              const double *SNN_RESTRICT z, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = PLUS(TIMES(x[d], z[d]), y[d]);
}

static double RING(fold)(const double *part) {
    double low = PLUS(PLUS(part[0], part[1]), PLUS(part[2], part[3]));
    double high = PLUS(PLUS(part[4], part[5]), PLUS(part[6], part[7]));
    return PLUS(low, high);
}

static double RING(dot)(const double *x, const double *z, ptrdiff_t n) {
    double part[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    ptrdiff_t d = 0;
    for (; d + 8 <= n; d += 8)
        for (int l = 0; l < 8; l++) part[l] = PLUS(TIMES(x[d + l], z[d + l]), part[l]);
    for (; d < n; d++) part[0] = PLUS(TIMES(x[d], z[d]), part[0]);
    return RING(fold)(part);
}

static double RING(multiply_sum)(double *SNN_RESTRICT y, const double *SNN_RESTRICT x,
                                 const double *SNN_RESTRICT z, ptrdiff_t n) {
    double part[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    ptrdiff_t d = 0;
    for (; d + 8 <= n; d += 8)
        for (int l = 0; l < 8; l++) {
            y[d + l] = TIMES(x[d + l], z[d + l]);
            part[l] = PLUS(y[d + l], part[l]);
        }
    for (; d < n; d++) {
        y[d] = TIMES(x[d], z[d]);
        part[0] = PLUS(y[d], part[0]);
    }
    return RING(fold)(part);
}

static double RING(add_scaled_dot)(double *SNN_RESTRICT y, double a, const double *SNN_RESTRICT x,
                                   const double *SNN_RESTRICT z, ptrdiff_t n) {
    double part[8] = {ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO, ZERO};
    ptrdiff_t d = 0;
    for (; d + 8 <= n; d += 8)
        for (int l = 0; l < 8; l++) {
            y[d + l] = PLUS(TIMES(a, x[d + l]), y[d + l]);
            part[l] = PLUS(TIMES(x[d + l], z[d + l]), part[l]);
        }
    for (; d < n; d++) {
        y[d] = PLUS(TIMES(a, x[d]), y[d]);
        part[0] = PLUS(TIMES(x[d], z[d]), part[0]);
    }
    return RING(fold)(part);
}

static void RING(scale_sum)(double *SNN_RESTRICT y, double r, const double *SNN_RESTRICT z, double a,
                            const double *SNN_RESTRICT x, ptrdiff_t n) {
    for (ptrdiff_t d = 0; d < n; d++) y[d] = TIMES(r, PLUS(TIMES(a, x[d]), z[d]));
}

/* One step of a scan is y -> s * y + b. Four in a row are put together beforehand,
 * so that the chain of dependent operations is a quarter as long. The coefficients
 * of SCAN_CHUNK steps at a time are computed as vectors. y[d] follows from `last`
 * for d = 0, `step`, 2 * step, ... */
#define SCAN_CHUNK 64

static inline double RING(scan_chunk)(double *SNN_RESTRICT y, ptrdiff_t step, double last,
                                      const double *SNN_RESTRICT s, const double *SNN_RESTRICT b, ptrdiff_t n) {
    ptrdiff_t d = 0;
    for (; d + 4 <= n; d += 4) {
        double s1 = TIMES(s[d + 1], s[d]), b1 = PLUS(TIMES(s[d + 1], b[d]), b[d + 1]);
        double s2 = TIMES(s[d + 2], s1), b2 = PLUS(TIMES(s[d + 2], b1), b[d + 2]);
        double s3 = TIMES(s[d + 3], s2), b3 = PLUS(TIMES(s[d + 3], b2), b[d + 3]);
        y[d * step] = PLUS(TIMES(s[d], last), b[d]);
        y[(d + 1) * step] = PLUS(TIMES(s1, last), b1);
        y[(d + 2) * step] = PLUS(TIMES(s2, last), b2);
        last = PLUS(TIMES(s3, last), b3);
        y[(d + 3) * step] = last;
    }
    for (; d < n; d++) {
        last = PLUS(TIMES(s[d], last), b[d]);
        y[d * step] = last;
    }
    return last;
}

static void RING(scan)(double *SNN_RESTRICT y, const double *SNN_RESTRICT w, const double *SNN_RESTRICT u, double a,
                       const double *SNN_RESTRICT x, ptrdiff_t n) {
    double s[SCAN_CHUNK], b[SCAN_CHUNK], last = ONE;
    y[0] = last;
    for (ptrdiff_t begin = 0; begin < n - 1; begin += SCAN_CHUNK) {
        ptrdiff_t size = n - 1 - begin < SCAN_CHUNK ? n - 1 - begin : SCAN_CHUNK;
        for (ptrdiff_t d = 0; d < size; d++) {
            s[d] = TIMES(PLUS(w[begin + d], ONE), u[begin + d]);
            b[d] = TIMES(a, x[begin + d]);
        }
        last = RING(scan_chunk)(y + begin + 1, 1, last, s, b, size);
    }
}

static void RING(scan_back)(double *SNN_RESTRICT y, const double *SNN_RESTRICT w, const double *SNN_RESTRICT u,
                            const double *SNN_RESTRICT source, ptrdiff_t n) {
    double s[SCAN_CHUNK], b[SCAN_CHUNK], last = TIMES(w[n - 1], source[n - 1]);
    y[n - 1] = last;
    for (ptrdiff_t end = n - 1; end > 0; end -= SCAN_CHUNK) {
        ptrdiff_t size = end < SCAN_CHUNK ? end : SCAN_CHUNK;
        for (ptrdiff_t d = 0; d < size; d++) {
            ptrdiff_t place = end - 1 - d;
            s[d] = TIMES(PLUS(w[place], ONE), u[place]);
            b[d] = TIMES(w[place], source[place]);
        }
        last = RING(scan_chunk)(y + end - 1, -1, last, s, b, size);
    }
}

static void RING(solve4)(double *SNN_RESTRICT y, const double *SNN_RESTRICT w, const double *const *x, ptrdiff_t n) {
    const double *SNN_RESTRICT x0 = x[0], *SNN_RESTRICT x1 = x[1] - 1;
    const double *SNN_RESTRICT x2 = x[2] - 2, *SNN_RESTRICT x3 = x[3] - 3;
    double s0 = TIMES(PLUS(w[-1], ONE), y[-1]), s1, s2, s3;
    y[0] = PLUS(TIMES(s0, x0[0]), y[0]);
    s1 = TIMES(PLUS(w[0], ONE), y[0]);
    y[1] = PLUS(TIMES(s1, x1[1]), PLUS(TIMES(s0, x0[1]), y[1]));
    s2 = TIMES(PLUS(w[1], ONE), y[1]);
    y[2] = PLUS(PLUS(TIMES(s2, x2[2]), TIMES(s1, x1[2])), PLUS(TIMES(s0, x0[2]), y[2]));
    s3 = TIMES(PLUS(w[2], ONE), y[2]);
    for (ptrdiff_t d = 3; d < n; d++) {
        double v = PLUS(TIMES(s0, x0[d]), y[d]);
        v = PLUS(TIMES(s1, x1[d]), v);
        v = PLUS(TIMES(s2, x2[d]), v);
        y[d] = PLUS(TIMES(s3, x3[d]), v);
    }
}

#undef SCAN_CHUNK

#ifdef SNN_WITH_IS_SAFE
static int RING(is_safe)(double r, const double *x, ptrdiff_t n) {
    double unsafe[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    ptrdiff_t d = 0;
    for (; d + 8 <= n; d += 8)
        for (int l = 0; l < 8; l++) unsafe[l] += r * x[d + l] >= SNN_SMALLEST_SAFE ? 0.0 : 1.0;
    for (; d < n; d++) unsafe[0] += r * x[d] >= SNN_SMALLEST_SAFE ? 0.0 : 1.0;
    for (int l = 1; l < 8; l++) unsafe[0] += unsafe[l];
    return unsafe[0] == 0.0;
}
#endif

static const Semiring RING(ring) = {
    ZERO, ONE, RING_PLUS, RING_TIMES, RING_INVERSE, RING_LOG_ONE_PLUS, RING_LINEAR,
    RING(one_plus), RING(shift), RING(scale), RING(multiply), RING(add),
    RING(add_scaled), RING(add_product), RING(dot), RING(multiply_sum), RING(add_scaled_dot),
    RING(scale_sum), RING(scan), RING(scan_back), RING(solve4), RING_IS_SAFE,
};
