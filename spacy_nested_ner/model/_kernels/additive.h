/* The additive span scorer for a batch: additive.pyx has what Python calls, additive_impl.h the computation. */
#ifndef SPACY_NESTED_NER_ADDITIVE_H
#define SPACY_NESTED_NER_ADDITIVE_H

#include <stddef.h>
#include <string.h>

#include "isa.h"

/* The most starts per block. */
#define SNN_BLOCK 64
/* Floats that a block keeps for its spans. */
#define SNN_KEPT 65536
/* Hidden units that are processed together. */
#define SNN_UNITS 8
/* Up to so many labels, units are added to the scores at once. */
#define SNN_FEW_LABELS 16

typedef struct Additive {
    ptrdiff_t tokens, hidden, labels, cells;
    /* Of every token: how long the longest span is that starts with it, and its cell of length 1. */
    const ptrdiff_t *room, *cell;
    ptrdiff_t width; /* the length of the longest span */
    /* A row per token in `own` and `gates`, a row per word in `shared`; `number` is the word of every token. Rows are
     * starts | ends | content | gates before the sigmoid, of `hidden` numbers each. */
    const float *own, *shared, *gates;
    const int *number;
    /* The bias of spans, and its row for every length from 1 to `width`. */
    const float *biases;
    ptrdiff_t n_rows;
    const ptrdiff_t *rows;
    const float *W, *b;
    float *scores;
    /* For the way back. */
    const float *d_scores;
    float *d_own, *d_W, *d_biases;
    float *memory;
} Additive;

typedef struct AdditiveKernel {
    /* Floats of memory that the two passes need. */
    ptrdiff_t (*forward_memory)(const Additive *a);
    ptrdiff_t (*backward_memory)(const Additive *a);
    void (*forward)(const Additive *a);
    void (*backward)(const Additive *a);
} AdditiveKernel;

/* Other compilers have no vectors; they get one float at a time. */
#if SNN_GNU
#define WIDTH 8
#else
#define WIDTH 1
#endif
/* Labels whose sums fit into registers: of two Lanes of cells, and of all units at work. */
#define SNN_LABELS 6
#define SNN_LABELS_BACK 1
#define K(name) name##_plain
#include "additive_impl.h"
#undef K
#if SNN_HAS_AVX2_BUILD
SNN_BEGIN_AVX2
#define K(name) name##_avx2
#include "additive_impl.h"
#undef K
SNN_END
#undef WIDTH
#undef SNN_LABELS
#undef SNN_LABELS_BACK
SNN_BEGIN_AVX512
#define K(name) name##_avx512
#define WIDTH 16
#define SNN_LABELS 12
#define SNN_LABELS_BACK 2
#include "additive_impl.h"
#undef K
SNN_END
#endif
#undef WIDTH

static AdditiveKernel *additive_kernel(void) {
#if SNN_HAS_AVX2_BUILD
    if (snn_use_avx512()) return &additive_avx512;
    if (snn_use_avx2()) return &additive_avx2;
#endif
    return &additive_plain;
}

#endif
