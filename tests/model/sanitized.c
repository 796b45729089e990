/* The additive span scorer on arrays that come from malloc with no room to spare, for all kinds of sizes. Compiled with
 * sanitizers by test_spans.py. */
#include <stdio.h>

#include "additive.h"

static float *filled(ptrdiff_t n) {
    float *array = malloc((size_t)n * sizeof(float));
    for (ptrdiff_t k = 0; k < n; k++) array[k] = (float)((k * 7919) % 1000) / 1000.0f + 0.1f;
    return array;
}

static void attempt(ptrdiff_t length, ptrdiff_t segments, ptrdiff_t limit, ptrdiff_t hidden, ptrdiff_t labels) {
    const ptrdiff_t tokens = length * segments, n_rows = 3, words = 2;
    const AdditiveKernel *kernel = additive_kernel();
    ptrdiff_t *room = malloc((size_t)tokens * sizeof *room), *cell = malloc((size_t)tokens * sizeof *cell);
    ptrdiff_t *rows = malloc((size_t)limit * sizeof *rows), cells = 0;
    int *number = malloc((size_t)tokens * sizeof *number);
    for (ptrdiff_t k = 0; k < tokens; k++) {
        room[k] = length - k % length < limit ? length - k % length : limit;
        cell[k] = cells;
        cells += room[k];
        number[k] = (int)(k % words);
    }
    for (ptrdiff_t k = 0; k < limit; k++) rows[k] = k % n_rows;
    Additive a = {0};
    a.tokens = tokens, a.hidden = hidden, a.labels = labels, a.cells = cells;
    a.room = room, a.cell = cell, a.width = limit, a.number = number, a.rows = rows, a.n_rows = n_rows;
    float *own = filled(tokens * 4 * hidden), *shared = filled(words * 4 * hidden), *gates = filled(tokens * hidden);
    float *biases = filled(n_rows * hidden), *W = filled(labels * hidden), *b = filled(labels);
    float *d_scores = filled(labels * cells);
    a.own = own, a.shared = shared, a.gates = gates, a.biases = biases, a.W = W, a.b = b, a.d_scores = d_scores;
    a.scores = filled(labels * cells), a.d_own = filled(tokens * 4 * hidden);
    a.d_W = filled(labels * hidden), a.d_biases = filled(n_rows * hidden);
    a.memory = filled(kernel->forward_memory(&a));
    kernel->forward(&a);
    free(a.memory);
    a.memory = filled(kernel->backward_memory(&a));
    kernel->backward(&a);
    free(a.memory), free(room), free(cell), free(rows), free(number), free(own), free(shared), free(gates), free(biases);
    free(W), free(b), free(d_scores), free(a.scores), free(a.d_own), free(a.d_W), free(a.d_biases);
}

int main(void) {
    const ptrdiff_t lengths[] = {1, 7, 8, 63, 64, 65, 130}, limits[] = {1, 5, 64, 130};
    for (int l = 0; l < 7; l++)
        for (int m = 0; m < 4 && limits[m] <= 2 * lengths[l]; m++)
            for (ptrdiff_t hidden = 1; hidden < 20; hidden += 5)
                for (ptrdiff_t labels = 1; labels < 30; labels += 6)
                    for (ptrdiff_t segments = 1; segments < 4; segments += 2)
                        attempt(lengths[l], segments, limits[m] < lengths[l] ? limits[m] : lengths[l], hidden, labels);
    puts("done");
    return 0;
}
