/* Largest and sum over the labels of a span, for floats that lie together: what a
 * compiler does not find by itself. One register holds eight labels of one span;
 * eight such registers are folded into one that holds a result a span. */

#define FOLD(op, lanes)                                                                     \
    do {                                                                                    \
        for (int l = 0; l < 8; l += 2)                                                      \
            lanes[l / 2] = op(_mm256_unpacklo_ps(lanes[l], lanes[l + 1]),                   \
                              _mm256_unpackhi_ps(lanes[l], lanes[l + 1]));                  \
        for (int l = 0; l < 4; l += 2)                                                      \
            lanes[l / 2] = op(_mm256_shuffle_ps(lanes[l], lanes[l + 1], 0x44),              \
                              _mm256_shuffle_ps(lanes[l], lanes[l + 1], 0xEE));             \
        lanes[0] = op(_mm256_permute2f128_ps(lanes[0], lanes[1], 0x20),                     \
                      _mm256_permute2f128_ps(lanes[0], lanes[1], 0x31));                    \
    } while (0)

/* Labels beyond a multiple of eight are read under a mask, with `neutral` in the
 * other places. Returns how many spans were done: the last few are left to the caller.
 * `bad` becomes 1 at a NaN or +inf. */
#define FOLD_ROWS(name, op, neutral)                                                        \
    static ptrdiff_t name(double *m, const float *w, ptrdiff_t spans, ptrdiff_t labels, int *bad) { \
        static const int ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0}; \
        ptrdiff_t whole = labels / 8 * 8, d = 0;                                            \
        __m256i mask = _mm256_loadu_si256((const __m256i *)(ones + 8 - labels % 8));        \
        __m256 fill = _mm256_set1_ps(neutral), limit = _mm256_set1_ps(HUGE_VALF);           \
        __m256 seen = _mm256_setzero_ps();                                                  \
        for (; d + 8 <= spans; d += 8) {                                                    \
            __m256 lanes[8];                                                                \
            for (int l = 0; l < 8; l++) {                                                   \
                const float *p = w + (d + l) * labels;                                      \
                __m256 v = fill;                                                            \
                for (ptrdiff_t t = 0; t < whole; t += 8) {                                  \
                    __m256 next = _mm256_loadu_ps(p + t);                                   \
                    seen = _mm256_or_ps(seen, _mm256_cmp_ps(next, limit, _CMP_NLT_UQ));     \
                    v = t ? op(v, next) : next;                                             \
                }                                                                           \
                if (whole < labels) {                                                       \
                    __m256 next = _mm256_maskload_ps(p + whole, mask);                      \
                    seen = _mm256_or_ps(seen, _mm256_cmp_ps(next, limit, _CMP_NLT_UQ));     \
                    v = op(v, _mm256_blendv_ps(fill, next, _mm256_castsi256_ps(mask)));     \
                }                                                                           \
                lanes[l] = v;                                                               \
            }                                                                               \
            FOLD(op, lanes);                                                                \
            _mm256_storeu_pd(m + d, _mm256_cvtps_pd(_mm256_castps256_ps128(lanes[0])));     \
            _mm256_storeu_pd(m + d + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(lanes[0], 1))); \
        }                                                                                   \
        *bad |= _mm256_movemask_ps(seen) != 0;                                              \
        return d;                                                                           \
    }

FOLD_ROWS(largest_of_eight, _mm256_max_ps, -HUGE_VALF)
FOLD_ROWS(sum_of_eight, _mm256_add_ps, 0.0f)

#undef FOLD
#undef FOLD_ROWS
