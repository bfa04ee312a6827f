/*
 * Reads of memory that may be gone, by the page: many words near each other cost one system call,
 * where each would take its own (safe_read.h).
 *
 * A reader holds copies. What it says is of the time when a page was first read from, so it is made
 * anew for each thing that is looked at, and whether that is still there is asked without it.
 */
#ifndef JXPERF_AGENT_CODE_PAGE_READER_H
#define JXPERF_AGENT_CODE_PAGE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_READER_PAGE_BYTES 4096u
#define PAGE_READER_PAGES      8u

struct page_copy {
	uint64_t address; /* 0: nothing */
	uint8_t bytes[PAGE_READER_PAGE_BYTES];
};

/* For who looks at much that lies apart: parts of pages, of which those that begin at like
 * addresses share PAGE_SET_PARTS places. */
#define PAGE_PART_BYTES 1024u
#define PAGE_SET_PARTS  4u
struct page_set {
	uint64_t addresses[PAGE_SET_PARTS]; /* 0: nothing */
	uint32_t next;                      /* that is given up */
	uint8_t bytes[PAGE_SET_PARTS][PAGE_PART_BYTES];
};

/* All zero: holds nothing, and has pages of its own alone. */
struct page_reader {
	struct page_copy own[PAGE_READER_PAGES];
	struct page_set *sets; /* in their place: borrowed, of zeros */
	unsigned set_count;
};

/* Forgets its copies. */
void page_reader_forget(struct page_reader *r);

/* As many bytes as there are, from address on, at most size. */
size_t page_read_some(struct page_reader *r, uint64_t address, void *to, size_t size);

/* All of them, or false; what is copied to is undefined then. */
bool page_read(struct page_reader *r, uint64_t address, void *to, size_t size);

#endif
