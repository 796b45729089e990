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

/* Labels beyond a multiple of eight are read under a mask, with `neutral` in the other
 * places. The last eight spans may overlap those before them; fewer than eight are left
 * to the caller. Returns how many were done; `bad` becomes 1 at a NaN or +inf. What
 * lies `ahead` bytes from here is read next, too far for the processor to foresee. */
#define FOLD_ROWS(name, op, neutral, finish)                                                \
    static SNN_NOINLINE ptrdiff_t name(double *m, const float *w, ptrdiff_t spans, ptrdiff_t labels, \
                                       ptrdiff_t ahead, int *bad) {                         \
        static const int ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0}; \
        ptrdiff_t rest = labels > 0 ? (labels - 1) % 8 + 1 : 0;                             \
        __m256i mask = _mm256_loadu_si256((const __m256i *)(ones + 8 - rest));              \
        __m256 fill = _mm256_set1_ps(neutral), limit = _mm256_set1_ps(HUGE_VALF);           \
        __m256 seen = _mm256_setzero_ps();                                                  \
        if (spans < 8) return 0;                                                            \
        for (ptrdiff_t next = 0; next < spans; next += 8) {                                 \
            ptrdiff_t d = next + 8 <= spans ? next : spans - 8;                             \
            __m256 lanes[8];                                                                \
            for (ptrdiff_t k = 0; k < 8 * labels; k += 16)                                  \
                _mm_prefetch((const char *)(w + d * labels + k) + ahead, _MM_HINT_T0);      \
            for (int l = 0; l < 8; l++) {                                                   \
                const float *p = w + (d + l) * labels;                                      \
                __m256 part = _mm256_maskload_ps(p + labels - rest, mask);                  \
                seen = _mm256_or_ps(seen, _mm256_cmp_ps(part, limit, _CMP_NLT_UQ));         \
                lanes[l] = _mm256_blendv_ps(fill, part, _mm256_castsi256_ps(mask));         \
            }                                                                               \
            for (ptrdiff_t t = 0; t < labels - rest; t += 8)                                \
                for (int l = 0; l < 8; l++) {                                               \
                    __m256 part = _mm256_loadu_ps(w + (d + l) * labels + t);                \
                    seen = _mm256_or_ps(seen, _mm256_cmp_ps(part, limit, _CMP_NLT_UQ));     \
                    lanes[l] = op(lanes[l], part);                                          \
                }                                                                           \
            FOLD(op, lanes);                                                                \
            lanes[0] = finish(lanes[0]);                                                    \
            _mm256_storeu_pd(m + d, _mm256_cvtps_pd(_mm256_castps256_ps128(lanes[0])));     \
            _mm256_storeu_pd(m + d + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(lanes[0], 1))); \
        }                                                                                   \
        *bad |= _mm256_movemask_ps(seen) != 0;                                              \
        return spans;                                                                       \
    }

#define ONLY_POSITIVE(v) \
    _mm256_blendv_ps(_mm256_set1_ps(-HUGE_VALF), v, _mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GT_OQ))
#define AS_IT_IS(v) (v)

FOLD_ROWS(largest_of_eight, _mm256_max_ps, -HUGE_VALF, ONLY_POSITIVE)
FOLD_ROWS(sum_of_eight, _mm256_add_ps, 0.0f, AS_IT_IS)

#undef ONLY_POSITIVE
#undef AS_IT_IS
#undef FOLD
#undef FOLD_ROWS
