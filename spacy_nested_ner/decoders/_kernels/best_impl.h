/* Rows of the flat and the quadratic algorithm over the maximum semiring: included by
 * best.h with ISA(name) defined. */

/* max over d of mention[d] + after[d], for a piece of a row */
static double ISA(best_peak)(const double *mention, const double *after, ptrdiff_t n) {
    double peak = -HUGE_VAL;
    ptrdiff_t d = 0;
#ifdef BEST_AVX2
    __m256d high[4];
    double lanes[4];
    for (int l = 0; l < 4; l++) high[l] = _mm256_set1_pd(-HUGE_VAL);
    for (; d + 16 <= n; d += 16)
        for (int l = 0; l < 4; l++)
            high[l] = _mm256_max_pd(high[l], _mm256_add_pd(_mm256_loadu_pd(mention + d + 4 * l),
                                                           _mm256_loadu_pd(after + d + 4 * l)));
    for (; d + 4 <= n; d += 4)
        high[0] = _mm256_max_pd(high[0], _mm256_add_pd(_mm256_loadu_pd(mention + d), _mm256_loadu_pd(after + d)));
    high[0] = _mm256_max_pd(_mm256_max_pd(high[0], high[1]), _mm256_max_pd(high[2], high[3]));
    _mm256_storeu_pd(lanes, high[0]);
    for (int l = 0; l < 4; l++) peak = SNN_MAX(lanes[l], peak);
#endif
    for (; d < n; d++) peak = SNN_MAX(mention[d] + after[d], peak);
    return peak;
}

static double ISA(best_first_level)(const double *mention, const double *after, const double *peaks, double rest,
                                    ptrdiff_t n, int32_t *choice) {
    double best = rest, enough;
    int32_t many, last = 0;
    for (ptrdiff_t piece = 0; piece * BEST_PIECE < n; piece++) best = SNN_MAX(peaks[piece], best);
    enough = best - BEST_TIE * best;
    many = rest >= enough;
    for (ptrdiff_t piece = 0; piece * BEST_PIECE < n; piece++) {
        if (peaks[piece] < enough) continue;
        ptrdiff_t d = piece * BEST_PIECE, end = SNN_MIN(d + BEST_PIECE, n);
#ifdef BEST_AVX2
        for (; d + 4 <= end; d += 4) {
            __m256d v = _mm256_add_pd(_mm256_loadu_pd(mention + d), _mm256_loadu_pd(after + d));
            int found = _mm256_movemask_pd(_mm256_cmp_pd(v, _mm256_set1_pd(enough), _CMP_GE_OQ));
            if (!found) continue;
            for (int l = 0; l < 4; l++)
                if (found >> l & 1) many++, last = (int32_t)(d + l + 1);
        }
#endif
        for (; d < end; d++)
            if (mention[d] + after[d] >= enough) many++, last = (int32_t)(d + 1);
    }
    *choice = many > 1 ? -1 : last;
    return best;
}

/* One span further than d: `inside` of d becomes that of d + 1. */
static inline double ISA(best_span)(const double *weight, const double *token, double own, const double *long_next,
                                    double *long_own, uint8_t *flags, double *mention, double tie, double inside,
                                    ptrdiff_t d) {
    double go_on = inside + SNN_MAX(weight[d], 0.0) + token[d], leftward = own + long_next[d];
    inside = SNN_MAX(go_on, leftward);
    mention[d + 1] = inside + weight[d + 1];
    long_own[d + 1] = SNN_MAX(mention[d + 1], leftward);
    flags[d + 1] = (uint8_t)((leftward > go_on ? BEST_IS_LEFTWARD : 0) |
                             (mention[d + 1] > leftward ? BEST_IS_CHILD : 0) |
                             (weight[d + 1] > 0.0 ? BEST_IS_POSITIVE : 0) |
                             (fabs(leftward - go_on) <= tie || fabs(leftward - mention[d + 1]) <= tie ? BEST_IS_TIED : 0));
    return inside;
}

#ifdef BEST_AVX2
/* Several spans further at a time. A step is y -> max(y + s, b); the steps of four spans
 * are put together in two rounds, with the neighbour one to the left and then two to the
 * left, and those of eight in one more, so that only one step in eight waits for the one
 * before it. */
#define ONE_LEFT(v, fill) _mm256_blend_pd(_mm256_permute4x64_pd(v, 0x90), fill, 1)
#define TWO_LEFT(v, fill) _mm256_blend_pd(_mm256_permute4x64_pd(v, 0x40), fill, 3)
#define ALL_LAST(v) _mm256_permute4x64_pd(v, 0xFF)

typedef struct {
    __m256d leftward, step, s, b;
} BestFour;

static inline BestFour best_four_steps(const double *weight, const double *token, __m256d own,
                                       const double *long_next) {
    const __m256d zero = _mm256_setzero_pd(), none = _mm256_set1_pd(-HUGE_VAL);
    BestFour four;
    four.leftward = _mm256_add_pd(own, _mm256_loadu_pd(long_next));
    four.step = _mm256_add_pd(_mm256_max_pd(_mm256_loadu_pd(weight), zero), _mm256_loadu_pd(token));
    four.b = _mm256_max_pd(four.leftward, _mm256_add_pd(four.step, ONE_LEFT(four.leftward, none)));
    four.s = _mm256_add_pd(four.step, ONE_LEFT(four.step, zero));
    four.b = _mm256_max_pd(four.b, _mm256_add_pd(four.s, TWO_LEFT(four.b, none)));
    four.s = _mm256_add_pd(four.s, TWO_LEFT(four.s, zero));
    return four;
}

/* C and X of the four spans whose insides are `here`, and their flags, one in eight bytes;
 * `before` begins with the inside of the span before them. */
static inline __m256i best_four_spans(BestFour four, __m256d here, __m256d before, __m256d tie, const double *weight,
                                      double *mention, double *long_own) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    __m256d w = _mm256_loadu_pd(weight), as_mention = _mm256_add_pd(here, w);
    __m256d go_on = _mm256_add_pd(four.step, ONE_LEFT(here, before));
    __m256d apart = _mm256_min_pd(_mm256_andnot_pd(sign, _mm256_sub_pd(four.leftward, go_on)),
                                  _mm256_andnot_pd(sign, _mm256_sub_pd(four.leftward, as_mention)));
    _mm256_storeu_pd(mention, as_mention);
    _mm256_storeu_pd(long_own, _mm256_max_pd(as_mention, four.leftward));
#define FLAG(x, y, relation, flag) \
    _mm256_and_si256(_mm256_castpd_si256(_mm256_cmp_pd(x, y, relation)), _mm256_set1_epi64x(flag))
    __m256i all = FLAG(four.leftward, go_on, _CMP_GT_OQ, BEST_IS_LEFTWARD);
    all = _mm256_or_si256(all, FLAG(as_mention, four.leftward, _CMP_GT_OQ, BEST_IS_CHILD));
    all = _mm256_or_si256(all, FLAG(w, _mm256_setzero_pd(), _CMP_GT_OQ, BEST_IS_POSITIVE));
    return _mm256_or_si256(all, FLAG(apart, tie, _CMP_LE_OQ, BEST_IS_TIED));
#undef FLAG
}

/* The first bytes of the eight-byte places of `first`, then those of `second`, in a row. */
static inline __m128i best_pack_flags(__m256i first, __m256i second) {
    const __m128i pick = _mm_set_epi32(-1, -1, -1, 0x09010800);
    __m256i both = _mm256_or_si256(first, _mm256_slli_epi64(second, 8));
    both = _mm256_shuffle_epi8(both, _mm256_broadcastsi128_si256(pick));
    return _mm_unpacklo_epi16(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
}

/* Returns where the caller has to go on. */
static ptrdiff_t best_row_by_eight(const double *weight, const double *token, double own, const double *long_next,
                                   double *long_own, uint8_t *flags, double *mention, double tie, double *inside,
                                   ptrdiff_t d, ptrdiff_t n) {
    const __m256d owns = _mm256_set1_pd(own), ties = _mm256_set1_pd(tie);
    __m256d last = _mm256_set1_pd(*inside);
    for (; d + 9 <= n; d += 8) {
        BestFour first = best_four_steps(weight + d, token + d, owns, long_next + d);
        BestFour second = best_four_steps(weight + d + 4, token + d + 4, owns, long_next + d + 4);
        __m256d b = _mm256_max_pd(second.b, _mm256_add_pd(second.s, ALL_LAST(first.b)));
        __m256d s = _mm256_add_pd(second.s, ALL_LAST(first.s));
        __m256d here = _mm256_max_pd(first.b, _mm256_add_pd(first.s, last));
        __m256d there = _mm256_max_pd(b, _mm256_add_pd(s, last));
        __m256i one = best_four_spans(first, here, last, ties, weight + d + 1, mention + d + 1, long_own + d + 1);
        __m256i other = best_four_spans(second, there, ALL_LAST(here), ties, weight + d + 5, mention + d + 5,
                                        long_own + d + 5);
        last = ALL_LAST(there);
        _mm_storel_epi64((__m128i *)(flags + d + 1), best_pack_flags(one, other));
    }
    for (; d + 5 <= n; d += 4) {
        BestFour four = best_four_steps(weight + d, token + d, owns, long_next + d);
        __m256d here = _mm256_max_pd(four.b, _mm256_add_pd(four.s, last));
        __m256i one = best_four_spans(four, here, last, ties, weight + d + 1, mention + d + 1, long_own + d + 1);
        int32_t packed = _mm_cvtsi128_si32(best_pack_flags(one, _mm256_setzero_si256()));
        memcpy(flags + d + 1, &packed, 4);
        last = ALL_LAST(here);
    }
    *inside = _mm256_cvtsd_f64(last);
    return d;
}
#undef ONE_LEFT
#undef TWO_LEFT
#undef ALL_LAST
#endif

static double ISA(best_row)(const double *weight, const double *token, double own, const double *long_next,
                            double *long_own, uint8_t *flags, double *mention, double rest, double inside,
                            ptrdiff_t begin, ptrdiff_t end) {
    ptrdiff_t d = begin - 1;
    if (begin == 0) {
        mention[0] = weight[0];
        long_own[0] = -HUGE_VAL;
        flags[0] = weight[0] > 0.0 ? BEST_IS_POSITIVE : 0;
        d = 0;
    }
#ifdef BEST_AVX2
    d = best_row_by_eight(weight, token, own, long_next, long_own, flags, mention, BEST_TIE * rest, &inside, d, end);
#endif
    for (; d + 1 < end; d++)
        inside = ISA(best_span)(weight, token, own, long_next, long_own, flags, mention, BEST_TIE * rest, inside, d);
    return inside;
}

static const BestRows ISA(best_kernels) = {ISA(best_peak), ISA(best_first_level), ISA(best_row)};
