/* A fast path that a reader may skip: labels_impl.h has the same in plain C.
 *
 * Largest and sum over the labels of a span, for floats that lie together, which a
 * compiler does not vectorize by itself. One register holds eight labels of one span;
 * eight such registers are folded into one that holds one result per span. What this
 * buys is in README.md. */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE __m256 join_labels(__m256 x, __m256 y, int largest) {
    return largest ? _mm256_max_ps(x, y) : _mm256_add_ps(x, y);
}

/* The maximum of a NaN and a number may be the number, but two operands are unordered
 * if either is a NaN: `seen` collects that where registers are first joined. */
ALWAYS_INLINE __m256 fold_lanes(__m256 *lanes, __m256 *seen, int largest) {
    for (int l = 0; l < 8; l += 2) {
        __m256 low = _mm256_unpacklo_ps(lanes[l], lanes[l + 1]), high = _mm256_unpackhi_ps(lanes[l], lanes[l + 1]);
        if (largest) *seen = _mm256_or_ps(*seen, _mm256_cmp_ps(low, high, _CMP_UNORD_Q));
        lanes[l / 2] = join_labels(low, high, largest);
    }
    for (int l = 0; l < 4; l += 2)
        lanes[l / 2] = join_labels(_mm256_shuffle_ps(lanes[l], lanes[l + 1], 0x44),
                                   _mm256_shuffle_ps(lanes[l], lanes[l + 1], 0xEE), largest);
    return join_labels(_mm256_permute2f128_ps(lanes[0], lanes[1], 0x20),
                       _mm256_permute2f128_ps(lanes[0], lanes[1], 0x31), largest);
}

/* Labels beyond a multiple of eight are read under a mask. The last eight spans may
 * overlap those before them; fewer than eight are left to the caller. Returns how many
 * were done; for the largest, `bad` becomes 1 at a NaN or +inf, and what is not positive
 * becomes -inf. */
ALWAYS_INLINE ptrdiff_t fold_rows(double *m, const float *w, ptrdiff_t spans, ptrdiff_t labels, int *bad,
                                  int largest, int masked) {
    static const int ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    const __m256i mask = _mm256_loadu_si256((const __m256i *)(ones + 8 - labels % 8));
    const __m256 fill = _mm256_set1_ps(largest ? -HUGE_VALF : 0.0f);
    __m256 seen = _mm256_setzero_ps(), lanes[8], result;
    ptrdiff_t whole = labels - labels % 8;
    if (spans < 8) return 0;
    for (ptrdiff_t next = 0; next < spans; next += 8) {
        ptrdiff_t d = next + 8 <= spans ? next : spans - 8;
        const float *block = w + d * labels;
        for (int l = 0; l < 8; l++) {
            const float *p = block + l * labels;
            lanes[l] = masked ? _mm256_blendv_ps(fill, _mm256_maskload_ps(p + whole, mask), _mm256_castsi256_ps(mask))
                              : _mm256_loadu_ps(p);
        }
        for (ptrdiff_t t = masked ? 0 : 8; t < whole; t += 8)
            for (int l = 0; l < 8; l++) {
                __m256 part = _mm256_loadu_ps(block + l * labels + t);
                if (largest) seen = _mm256_or_ps(seen, _mm256_cmp_ps(lanes[l], part, _CMP_UNORD_Q));
                lanes[l] = join_labels(lanes[l], part, largest);
            }
        result = fold_lanes(lanes, &seen, largest);
        if (largest) {
            seen = _mm256_or_ps(seen, _mm256_cmp_ps(result, _mm256_set1_ps(HUGE_VALF), _CMP_EQ_OQ));
            result = _mm256_blendv_ps(fill, result, _mm256_cmp_ps(result, _mm256_setzero_ps(), _CMP_GT_OQ));
        }
        _mm256_storeu_pd(m + d, _mm256_cvtps_pd(_mm256_castps256_ps128(result)));
        _mm256_storeu_pd(m + d + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(result, 1)));
    }
    *bad |= _mm256_movemask_ps(seen) != 0;
    return spans;
}

static SNN_NOINLINE ptrdiff_t largest_of_eight(double *m, const float *w, ptrdiff_t spans, ptrdiff_t labels,
                                               int *bad) {
    if (labels == 0) return 0;
    return labels % 8 ? fold_rows(m, w, spans, labels, bad, 1, 1) : fold_rows(m, w, spans, labels, bad, 1, 0);
}

static SNN_NOINLINE ptrdiff_t sum_of_eight(double *m, const float *w, ptrdiff_t spans, ptrdiff_t labels,
                                           int *bad) {
    if (labels == 0) return 0;
    return labels % 8 ? fold_rows(m, w, spans, labels, bad, 0, 1) : fold_rows(m, w, spans, labels, bad, 0, 0);
}

#undef ALWAYS_INLINE
