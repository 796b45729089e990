/* The additive span scorer for one instruction set: included by additive.h with K(name) and WIDTH, the number of spans
 * that are computed side by side.
 *
 * These are spans of one length with successive starts; a Lanes holds one number of each. From one length to the next,
 * every one of them grows by the token on its right: what is added next is the same row of ends, contents and gates,
 * one place further on. So the tokens of a block of starts, and those that spans reach beyond it, are laid out by
 * hidden unit: row k has the number of unit k for one token after the other ("columns"). Segments follow one another
 * in these rows. A lane whose span would reach into the next segment or beyond the batch computes something that is not
 * used.
 *
 * A block is worked through by SNN_UNITS hidden units at a time, so that all that they need is in the first cache. What
 * all units add to, or start from, is in `out`: the scores of a block, or their gradients. */

#if SNN_GNU
typedef float K(Lanes) __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef int K(Mask) __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
/* y where x is positive, otherwise 0 */
#define WHERE_POSITIVE(x, y) ((Lanes)((K(Mask))(y) & ((x) > 0)))
#else
typedef float K(Lanes);
#define WHERE_POSITIVE(x, y) ((x) > 0 ? (y) : 0)
#endif
#define Lanes K(Lanes)
#define ALL(x) ((x) + (Lanes){0})
#define LANES(pointer) (*(Lanes *)(pointer))
#define READ(pointer) (*(const Lanes *)(pointer))

/* Rows of the units at work, or their gradients. */
typedef struct K(Rows) {
    float *a, *e, *w, *g; /* starts, ends, weighted contents, gates */
} K(Rows);

/* Memory, handed out in order. */
typedef struct K(Memory) {
    ptrdiff_t padded; /* hidden units, up to a multiple of SNN_UNITS */
    ptrdiff_t block;  /* starts per block */
    ptrdiff_t stride; /* from one row to the next */
    int keeps_hidden; /* many labels: the hidden layer of a block is kept, and multiplied at the end */
    ptrdiff_t kept;   /* from one row of it to the next */
    float *W, *biases; /* by units at work, then row, then unit */
    K(Rows) rows;
    /* On the way there. The hidden layer has a row per unit, and the cells of the block as the scores have them. `out` is
     * by lanes of starts, then length, then label; or only one of these lanes and the units at work, before they are kept. */
    float *hidden, *out;
    /* On the way back. The gradients of the scores are as the scores above; the hidden layer is that of the units at work
     * and some lanes. */
    float *d_out, *units;
    K(Rows) d;
    float *d_W, *d_biases;
    ptrdiff_t forward, backward; /* how much there is in all */
} K(Memory);

static ptrdiff_t K(smaller)(ptrdiff_t x, ptrdiff_t y) { return x < y ? x : y; }
static ptrdiff_t K(rounded)(ptrdiff_t x, ptrdiff_t unit) { return (x + unit - 1) / unit * unit; }

static K(Memory) K(memory_of)(const Additive *a) {
    K(Memory) m;
    float *next = a->memory;
    const ptrdiff_t H = m.padded = K(rounded)(a->hidden, SNN_UNITS);
    m.keeps_hidden = a->labels > SNN_FEW_LABELS;
    /* What a block keeps for its spans fits into the second cache, unless spans are very long. */
    const ptrdiff_t per_start = a->width * (m.keeps_hidden ? H : a->labels);
    m.block = K(rounded)(K(smaller)(SNN_BLOCK, SNN_KEPT / per_start + 1), WIDTH);
    /* With the lanes beyond the last column. An odd number of cache lines, so that rows do not compete for the same
     * places in the cache. */
    const ptrdiff_t stride = m.stride = ((m.block + a->width + WIDTH + 15) / 16 | 1) * 16;
#define TAKE(field, floats) m.field = next, next += (floats)
    TAKE(W, a->labels * H);
    TAKE(biases, a->n_rows * H);
    TAKE(rows.a, SNN_UNITS * m.block);
    TAKE(rows.e, SNN_UNITS * stride);
    TAKE(rows.w, SNN_UNITS * stride);
    TAKE(rows.g, SNN_UNITS * stride);
    float *const common = next;
    m.kept = ((m.block * a->width + 2 * WIDTH + 15) / 16 | 1) * 16;
    TAKE(hidden, m.keeps_hidden ? H * m.kept : 0);
    TAKE(out, m.keeps_hidden ? a->width * SNN_UNITS * WIDTH : m.block * a->width * a->labels);
    m.forward = next - a->memory;
    next = common;
    TAKE(d_out, m.block * a->width * a->labels);
    TAKE(units, a->width * SNN_UNITS * WIDTH);
    TAKE(d.a, SNN_UNITS * m.block);
    TAKE(d.e, SNN_UNITS * stride);
    TAKE(d.w, SNN_UNITS * stride);
    TAKE(d.g, SNN_UNITS * stride);
    TAKE(d_W, H * a->labels * WIDTH);
    TAKE(d_biases, H * a->n_rows * WIDTH);
    m.backward = next - a->memory;
#undef TAKE
    return m;
}

static ptrdiff_t K(forward_memory)(const Additive *a) { return K(memory_of)(a).forward; }
static ptrdiff_t K(backward_memory)(const Additive *a) { return K(memory_of)(a).backward; }

/* Rows of `hidden` numbers, by units at work. */
static void K(by_units)(float *to, const float *from, ptrdiff_t rows, ptrdiff_t hidden) {
    for (ptrdiff_t u = 0; u < hidden; u += SNN_UNITS)
        for (ptrdiff_t row = 0; row < rows; row++)
            for (ptrdiff_t k = 0; k < SNN_UNITS; k++) *to++ = u + k < hidden ? from[row * hidden + u + k] : 0;
}

static ptrdiff_t K(longest)(const ptrdiff_t *room, ptrdiff_t count) {
    ptrdiff_t longest = 0;
    for (ptrdiff_t k = 0; k < count; k++) longest = room[k] > longest ? room[k] : longest;
    return longest;
}

/* The tokens that the spans of a block contain, from `first` on. */
static ptrdiff_t K(columns)(const Additive *a, ptrdiff_t first, ptrdiff_t starts) {
    ptrdiff_t columns = 0;
    for (ptrdiff_t k = 0; k < starts; k++) columns = k + a->room[first + k] > columns ? k + a->room[first + k] : columns;
    return columns;
}

/* Turn rows of tokens into rows of units, from unit u on. */
SNN_INLINE void K(turn)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t columns, ptrdiff_t u,
                        const int units) {
    const ptrdiff_t H = a->hidden, stride = m->stride;
    const K(Rows) *rows = &m->rows;
    for (ptrdiff_t c = 0; c < columns; c++) {
        const float *own = a->own + (first + c) * 4 * H + u, *gate = a->gates + (first + c) * H + u;
        const float *shared = a->shared + a->number[first + c] * 4 * H + u;
        for (int k = 0; k < units; k++) rows->e[k * stride + c] = own[H + k] + shared[H + k];
        for (int k = 0; k < units; k++) rows->w[k * stride + c] = (own[2 * H + k] + shared[2 * H + k]) * gate[k];
        for (int k = 0; k < units; k++) rows->g[k * stride + c] = gate[k];
        if (c < m->block)
            for (int k = 0; k < units; k++) rows->a[k * m->block + c] = own[k] + shared[k];
    }
}

/* Lay out the units at work, from unit u on. Units that do not exist have no start, end and content. */
static void K(lay_out)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t columns, ptrdiff_t u) {
    const ptrdiff_t units = K(smaller)(SNN_UNITS, a->hidden - u);
    const K(Rows) *rows = &m->rows;
    if (units == SNN_UNITS)
        K(turn)(a, m, first, columns, u, SNN_UNITS);
    else {
        K(turn)(a, m, first, columns, u, (int)units);
        memset(rows->a + units * m->block, 0, sizeof(float) * (SNN_UNITS - units) * m->block);
        memset(rows->e + units * m->stride, 0, sizeof(float) * (SNN_UNITS - units) * m->stride);
        memset(rows->w + units * m->stride, 0, sizeof(float) * (SNN_UNITS - units) * m->stride);
        for (ptrdiff_t k = units * m->stride; k < SNN_UNITS * m->stride; k++) rows->g[k] = 1;
    }
    /* Lanes beyond the last column would otherwise read what another block has left. */
    for (ptrdiff_t k = 0; k < SNN_UNITS; k++) {
        LANES(rows->e + k * m->stride + columns) = LANES(rows->w + k * m->stride + columns) = ALL(0.0f);
        LANES(rows->g + k * m->stride + columns) = ALL(1.0f);
        for (ptrdiff_t c = columns; c < m->block; c++) rows->a[k * m->block + c] = 0;
    }
}

/* ---- the way there ---- */

/* Some units of spans of all lengths, shortest first: what they add to the scores, or the units themselves. */
SNN_INLINE void K(units_there)(const Additive *a, const K(Memory) *m, ptrdiff_t u, ptrdiff_t j, ptrdiff_t longest,
                               const int labels) {
    const ptrdiff_t stride = m->stride;
    const K(Rows) *rows = &m->rows;
    const float *W = m->W + u * labels, *biases = m->biases + u * a->n_rows;
    float *out = labels ? m->out + j * a->width * labels : m->out;
    Lanes sums[SNN_UNITS], gates[SNN_UNITS], starts[SNN_UNITS];
    for (int k = 0; k < SNN_UNITS; k++) {
        sums[k] = gates[k] = ALL(0.0f);
        starts[k] = READ(rows->a + k * m->block + j);
    }
    for (ptrdiff_t l = 0; l < longest; l++) {
        const float *bias = biases + a->rows[l] * SNN_UNITS;
        Lanes h[SNN_UNITS];
        for (int k = 0; k < SNN_UNITS; k++) {
            const ptrdiff_t at = k * stride + j + l;
            sums[k] += READ(rows->w + at);
            gates[k] += READ(rows->g + at);
            h[k] = starts[k] + READ(rows->e + at) + bias[k] + sums[k] / gates[k];
            h[k] = WHERE_POSITIVE(h[k], h[k]);
        }
        if (labels) {
            for (int t = 0; t < labels; t++) {
                Lanes even = READ(out + t * WIDTH), odd = ALL(0.0f);
                for (int k = 0; k < SNN_UNITS; k += 2) {
                    even += W[t * SNN_UNITS + k] * h[k];
                    odd += W[t * SNN_UNITS + k + 1] * h[k + 1];
                }
                LANES(out + t * WIDTH) = even + odd;
            }
            out += labels * WIDTH;
        } else {
            for (int k = 0; k < SNN_UNITS; k++) LANES(out + k * WIDTH) = h[k];
            out += SNN_UNITS * WIDTH;
        }
    }
}

static void K(units_forward)(const Additive *a, const K(Memory) *m, ptrdiff_t u, ptrdiff_t j, ptrdiff_t longest) {
    switch (m->keeps_hidden ? 0 : a->labels) {
        case 0: K(units_there)(a, m, u, j, longest, 0); break;
        case 1: K(units_there)(a, m, u, j, longest, 1); break;
        case 2: K(units_there)(a, m, u, j, longest, 2); break;
        case 3: K(units_there)(a, m, u, j, longest, 3); break;
        case 4: K(units_there)(a, m, u, j, longest, 4); break;
        case 5: K(units_there)(a, m, u, j, longest, 5); break;
        case 6: K(units_there)(a, m, u, j, longest, 6); break;
        default: K(units_there)(a, m, u, j, longest, (int)a->labels); break;
    }
}

/* Move the units at work, from unit u on, into their rows: of the starts of a block from lane j on, which is `first` in
 * the batch. */
static void K(keep_units)(const Additive *a, const K(Memory) *m, ptrdiff_t u, ptrdiff_t first, ptrdiff_t j,
                          ptrdiff_t lanes) {
    for (ptrdiff_t lane = 0; lane < lanes; lane++) {
        const ptrdiff_t room = a->room[first + j + lane];
        float *row = m->hidden + u * m->kept + a->cell[first + j + lane] - a->cell[first];
        for (int k = 0; k < SNN_UNITS; k++, row += m->kept)
            for (ptrdiff_t l = 0; l < room; l++) row[l] = m->out[(l * SNN_UNITS + k) * WIDTH + lane];
    }
}

/* W hidden + b for some labels and two Lanes of cells, of which `cells` exist: what is read is used twice, and additions
 * to one sum need not wait for the last. */
SNN_INLINE void K(multiply)(const Additive *a, const K(Memory) *m, const float *hidden, ptrdiff_t t, const int count,
                            ptrdiff_t cells, float *scores) {
    Lanes sums[SNN_LABELS], further[SNN_LABELS];
    for (int k = 0; k < count; k++) sums[k] = further[k] = ALL(0.0f);
    for (ptrdiff_t u = 0; u < m->padded; u += SNN_UNITS) {
        const float *W = m->W + u * a->labels + t * SNN_UNITS;
        for (int v = 0; v < SNN_UNITS; v++, hidden += m->kept) {
            const Lanes h = READ(hidden), h_further = READ(hidden + WIDTH);
            for (int k = 0; k < count; k++) {
                sums[k] += W[k * SNN_UNITS + v] * h;
                further[k] += W[k * SNN_UNITS + v] * h_further;
            }
        }
    }
    for (int k = 0; k < count; k++, scores += a->cells) {
        float both[2 * WIDTH];
        float *to = cells < 2 * WIDTH ? both : scores;
        LANES(to) = sums[k] + a->b[t + k];
        LANES(to + WIDTH) = further[k] + a->b[t + k];
        if (cells < 2 * WIDTH) memcpy(scores, both, sizeof(float) * cells);
    }
}

/* Write the scores of spans with the starts from `first` on, which are the lanes from j on. */
static void K(write_scores)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t j, ptrdiff_t lanes) {
    for (ptrdiff_t t = 0; t < a->labels; t++)
        for (ptrdiff_t lane = 0; lane < lanes; lane++) {
            const ptrdiff_t room = a->room[first + lane];
            const float *out = m->out + j * a->width * a->labels + t * WIDTH + lane;
            float *scores = a->scores + t * a->cells + a->cell[first + lane];
            for (ptrdiff_t l = 0; l < room; l++) scores[l] = out[l * a->labels * WIDTH] + a->b[t];
        }
}

/* The scores of a block from its hidden layer. */
static void K(multiply_scores)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t starts) {
    const ptrdiff_t last = first + starts - 1, cells = a->cell[last] + a->room[last] - a->cell[first];
    /* What is read beyond the last cell, and not used. */
    for (ptrdiff_t u = 0; u < m->padded; u++) memset(m->hidden + u * m->kept + cells, 0, sizeof(float) * 2 * WIDTH);
    for (ptrdiff_t t = 0; t < a->labels; t += SNN_LABELS) {
        const ptrdiff_t count = K(smaller)(SNN_LABELS, a->labels - t);
        float *scores = a->scores + t * a->cells + a->cell[first];
        for (ptrdiff_t c = 0; c < cells; c += 2 * WIDTH) {
            const ptrdiff_t left = K(smaller)(2 * WIDTH, cells - c);
            if (count == SNN_LABELS)
                K(multiply)(a, m, m->hidden + c, t, SNN_LABELS, left, scores + c);
            else
                K(multiply)(a, m, m->hidden + c, t, (int)count, left, scores + c);
        }
    }
}

static void K(forward)(const Additive *a) {
    const K(Memory) memory = K(memory_of)(a), *m = &memory;
    K(by_units)(m->W, a->W, a->labels, a->hidden);
    K(by_units)(m->biases, a->biases, a->n_rows, a->hidden);
    for (ptrdiff_t first = 0; first < a->tokens; first += m->block) {
        const ptrdiff_t starts = K(smaller)(m->block, a->tokens - first), columns = K(columns)(a, first, starts);
        if (!m->keeps_hidden) memset(m->out, 0, sizeof(float) * m->block * a->width * a->labels);
        for (ptrdiff_t u = 0; u < m->padded; u += SNN_UNITS) {
            K(lay_out)(a, m, first, columns, u);
            for (ptrdiff_t j = 0; j < starts; j += WIDTH) {
                const ptrdiff_t lanes = K(smaller)(WIDTH, starts - j);
                K(units_forward)(a, m, u, j, K(longest)(a->room + first + j, lanes));
                if (m->keeps_hidden) K(keep_units)(a, m, u, first, j, lanes);
            }
        }
        if (m->keeps_hidden)
            K(multiply_scores)(a, m, first, starts);
        else
            for (ptrdiff_t j = 0; j < starts; j += WIDTH)
                K(write_scores)(a, m, first + j, j, K(smaller)(WIDTH, starts - j));
    }
}

/* ---- the way back ---- */

/* d_W += hidden d_out for some labels, in registers. */
SNN_INLINE void K(add_to_W)(const Additive *a, const K(Memory) *m, float *d_W, const float *out, ptrdiff_t longest,
                            const int count) {
    Lanes sums[SNN_LABELS_BACK][SNN_UNITS];
    for (int t = 0; t < count; t++)
        for (int k = 0; k < SNN_UNITS; k++) sums[t][k] = READ(d_W + (t * SNN_UNITS + k) * WIDTH);
    for (ptrdiff_t l = 0; l < longest; l++) {
        const float *h = m->units + l * SNN_UNITS * WIDTH;
        for (int t = 0; t < count; t++) {
            const Lanes of_label = READ(out + (l * a->labels + t) * WIDTH);
            for (int k = 0; k < SNN_UNITS; k++) sums[t][k] += READ(h + k * WIDTH) * of_label;
        }
    }
    for (int t = 0; t < count; t++)
        for (int k = 0; k < SNN_UNITS; k++) LANES(d_W + (t * SNN_UNITS + k) * WIDTH) = sums[t][k];
}

/* Some units of spans of all lengths, shortest first. */
static void K(units_back)(const Additive *a, const K(Memory) *m, ptrdiff_t u, ptrdiff_t j, ptrdiff_t longest) {
    const ptrdiff_t T = a->labels, stride = m->stride;
    const K(Rows) *rows = &m->rows, *d = &m->d;
    const float *W = m->W + u * T, *biases = m->biases + u * a->n_rows, *out = m->d_out + j * a->width * T;
    float *d_W = m->d_W + u * T * WIDTH, *d_biases = m->d_biases + u * a->n_rows * WIDTH;
    Lanes sums[SNN_UNITS], gates[SNN_UNITS], starts[SNN_UNITS];
    Lanes of_starts[SNN_UNITS], of_weighted[SNN_UNITS], of_gates[SNN_UNITS];
    for (int k = 0; k < SNN_UNITS; k++) {
        sums[k] = gates[k] = of_starts[k] = of_weighted[k] = of_gates[k] = ALL(0.0f);
        starts[k] = READ(rows->a + k * m->block + j);
    }
    for (ptrdiff_t l = 0; l < longest; l++) {
        const ptrdiff_t row = a->rows[l];
        const float *bias = biases + row * SNN_UNITS, *of_length = out + l * T * WIDTH;
        float *d_bias = d_biases + row * SNN_UNITS * WIDTH, *hidden = m->units + l * SNN_UNITS * WIDTH;
        Lanes h[SNN_UNITS], inverse[SNN_UNITS], content[SNN_UNITS], d_h[SNN_UNITS];
        for (int k = 0; k < SNN_UNITS; k++) {
            const ptrdiff_t at = k * stride + j + l;
            sums[k] += READ(rows->w + at);
            gates[k] += READ(rows->g + at);
            inverse[k] = 1.0f / gates[k];
            content[k] = sums[k] * inverse[k];
            h[k] = starts[k] + READ(rows->e + at) + bias[k] + content[k];
            LANES(hidden + k * WIDTH) = h[k] = WHERE_POSITIVE(h[k], h[k]);
            d_h[k] = ALL(0.0f);
        }
        for (ptrdiff_t t = 0; t < T; t++) {
            const Lanes of_label = READ(of_length + t * WIDTH);
            for (int k = 0; k < SNN_UNITS; k++) d_h[k] += W[t * SNN_UNITS + k] * of_label;
        }
        for (int k = 0; k < SNN_UNITS; k++) {
            const ptrdiff_t at = k * stride + j + l;
            const Lanes x = WHERE_POSITIVE(h[k], d_h[k]), y = x * inverse[k], z = y * content[k];
            LANES(d_bias + k * WIDTH) += x;
            of_starts[k] += x;
            LANES(d->e + at) += x;
            /* content = sum of weighted / sum of gates. All tokens of a span get the same: it is added at the first
             * and subtracted after the last, and running sums in take_out do the rest. */
            of_weighted[k] += y;
            LANES(d->w + at + 1) -= y;
            of_gates[k] -= z;
            LANES(d->g + at + 1) += z;
        }
    }
    for (int k = 0; k < SNN_UNITS; k++) {
        LANES(d->a + k * m->block + j) = of_starts[k];
        LANES(d->w + k * stride + j) += of_weighted[k];
        LANES(d->g + k * stride + j) += of_gates[k];
    }
    ptrdiff_t t = 0;
    for (; t + SNN_LABELS_BACK <= T; t += SNN_LABELS_BACK)
        K(add_to_W)(a, m, d_W + t * SNN_UNITS * WIDTH, out + t * WIDTH, longest, SNN_LABELS_BACK);
    for (; t < T; t++) K(add_to_W)(a, m, d_W + t * SNN_UNITS * WIDTH, out + t * WIDTH, longest, 1);
}

/* Add the gradients of the units at work to those of the tokens, from unit u on. */
SNN_INLINE void K(take_units)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t starts,
                              ptrdiff_t columns, ptrdiff_t u, const int units) {
    const ptrdiff_t H = a->hidden, stride = m->stride;
    const K(Rows) *rows = &m->rows, *d = &m->d;
    float w[SNN_UNITS] = {0}, g[SNN_UNITS] = {0};
    for (ptrdiff_t c = 0; c < columns; c++) {
        float *own = a->d_own + (first + c) * 4 * H + u;
        for (int k = 0; k < units; k++) w[k] += d->w[k * stride + c];
        for (int k = 0; k < units; k++) g[k] += d->g[k * stride + c];
        for (int k = 0; k < units; k++) own[H + k] += d->e[k * stride + c];
        /* weighted = content * gate */
        for (int k = 0; k < units; k++) own[2 * H + k] += w[k] * rows->g[k * stride + c];
        for (int k = 0; k < units; k++)
            own[3 * H + k] += g[k] + w[k] * rows->w[k * stride + c] / rows->g[k * stride + c];
        if (c < starts)
            for (int k = 0; k < units; k++) own[k] += d->a[k * m->block + c];
    }
}

static void K(take_out)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t starts, ptrdiff_t columns,
                        ptrdiff_t u) {
    const ptrdiff_t units = K(smaller)(SNN_UNITS, a->hidden - u);
    if (units == SNN_UNITS)
        K(take_units)(a, m, first, starts, columns, u, SNN_UNITS);
    else
        K(take_units)(a, m, first, starts, columns, u, (int)units);
}

/* The gradients of the scores, with 0 for spans that there are not. */
static void K(gather)(const Additive *a, const K(Memory) *m, ptrdiff_t first, ptrdiff_t j, ptrdiff_t lanes) {
    const ptrdiff_t longest = K(longest)(a->room + first, lanes), step = a->labels * WIDTH;
    for (ptrdiff_t t = 0; t < a->labels; t++)
        for (ptrdiff_t lane = 0; lane < WIDTH; lane++) {
            const ptrdiff_t room = lane < lanes ? a->room[first + lane] : 0;
            const float *d_scores = a->d_scores + t * a->cells + (lane < lanes ? a->cell[first + lane] : 0);
            float *out = m->d_out + j * a->width * a->labels + t * WIDTH + lane;
            for (ptrdiff_t l = 0; l < room; l++) out[l * step] = d_scores[l];
            for (ptrdiff_t l = room; l < longest; l++) out[l * step] = 0;
        }
}

/* Sums over lanes: from units at work, rows and unit to rows and units. */
static void K(add_lanes)(float *to, const float *lanes, ptrdiff_t rows, ptrdiff_t hidden) {
    for (ptrdiff_t u = 0; u < hidden; u++)
        for (ptrdiff_t row = 0; row < rows; row++) {
            const float *of_unit = lanes + ((u / SNN_UNITS * rows + row) * SNN_UNITS + u % SNN_UNITS) * WIDTH;
            float sum = 0;
            for (int k = 0; k < WIDTH; k++) sum += of_unit[k];
            to[row * hidden + u] = sum;
        }
}

static void K(backward)(const Additive *a) {
    const K(Memory) memory = K(memory_of)(a), *m = &memory;
    K(by_units)(m->W, a->W, a->labels, a->hidden);
    K(by_units)(m->biases, a->biases, a->n_rows, a->hidden);
    memset(m->d_W, 0, sizeof(float) * m->padded * (a->labels + a->n_rows) * WIDTH); /* and the biases */
    for (ptrdiff_t first = 0; first < a->tokens; first += m->block) {
        const ptrdiff_t starts = K(smaller)(m->block, a->tokens - first), columns = K(columns)(a, first, starts);
        for (ptrdiff_t j = 0; j < starts; j += WIDTH) K(gather)(a, m, first + j, j, K(smaller)(WIDTH, starts - j));
        for (ptrdiff_t u = 0; u < m->padded; u += SNN_UNITS) {
            K(lay_out)(a, m, first, columns, u);
            memset(m->d.e, 0, sizeof(float) * 3 * SNN_UNITS * m->stride); /* weighted contents and gates, too */
            for (ptrdiff_t j = 0; j < starts; j += WIDTH)
                K(units_back)(a, m, u, j, K(longest)(a->room + first + j, K(smaller)(WIDTH, starts - j)));
            K(take_out)(a, m, first, starts, columns, u);
        }
    }
    K(add_lanes)(a->d_W, m->d_W, a->labels, a->hidden);
    K(add_lanes)(a->d_biases, m->d_biases, a->n_rows, a->hidden);
}

static AdditiveKernel K(additive) = {K(forward_memory), K(backward_memory), K(forward), K(backward)};

#undef Lanes
#undef ALL
#undef LANES
#undef READ
#undef WHERE_POSITIVE
