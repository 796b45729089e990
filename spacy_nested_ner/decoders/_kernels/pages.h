/* Memory for the tables of a call.
 *
 * The system gives large pieces of memory page by page, when they are first written to,
 * and clears every page before: for a segment of 200,000 tokens, with pages of 4 KB, that
 * takes as long as the dynamic programs. Linux has larger pages for those who ask.
 *
 * With SNN_GARBAGE, for the builds with sanitizers, every table is a piece of its own, so that nothing can reach from one
 * into the next unnoticed, and is filled with numbers that are hard to overlook. */
#ifndef SPACY_NESTED_NER_PAGES_H
#define SPACY_NESTED_NER_PAGES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#define SNN_PAGE 4096
#define SNN_MANY_PAGES ((size_t)1 << 22)

#if defined(SNN_GARBAGE)
enum { SNN_SEPARATE = 1 };
/* NaN, or about 1e287: whoever reads before writing gets one that no result hides. */
static inline void *snn_soil(void *memory, size_t bytes) {
    if (memory != NULL) memset(memory, (uintptr_t)memory >> 5 & 1 ? 0xFF : 0x7B, bytes);
    return memory;
}
#else
enum { SNN_SEPARATE = 0 };
static inline void *snn_soil(void *memory, size_t bytes) {
    (void)bytes;
    return memory;
}
#endif

static inline void *snn_take_memory(size_t bytes) {
    char *memory = (char *)malloc(bytes);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (memory != NULL && bytes >= SNN_MANY_PAGES) {
        size_t before = SNN_PAGE - (uintptr_t)memory % SNN_PAGE;
        madvise(memory + before, bytes - before, MADV_HUGEPAGE); /* a wish: it may be refused */
    }
#endif
    return snn_soil(memory, bytes);
}

#endif
