#include "attach/agent/code/page_reader.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"

#define PAGE_BYTES PAGE_READER_PAGE_BYTES

void page_reader_forget(struct page_reader *r)
{
	for (unsigned i = 0; i < PAGE_READER_PAGES; i++)
		r->own[i].address = 0;
	for (unsigned i = 0; i < r->more_count; i++)
		r->more[i].address = 0;
}

static const uint8_t *page_at(struct page_reader *r, uint64_t address)
{
	uint64_t begin = address & ~(uint64_t)(PAGE_BYTES - 1);
	uint64_t number = begin / PAGE_BYTES;
	struct page_copy *page =
	    r->more_count ? &r->more[number % r->more_count] : &r->own[number % PAGE_READER_PAGES];

	if (page->address != begin || begin == 0) {
		page->address = 0;
		if (!safe_read(begin, page->bytes, PAGE_BYTES))
			return NULL;
		page->address = begin;
	}
	return page->bytes;
}

size_t page_read_some(struct page_reader *r, uint64_t address, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const uint8_t *page = page_at(r, address + done);
		size_t at = (address + done) % PAGE_BYTES;
		size_t part = PAGE_BYTES - at < size - done ? PAGE_BYTES - at : size - done;

		if (!page)
			break;
		memcpy((uint8_t *)to + done, page + at, part);
		done += part;
	}
	return done;
}

bool page_read(struct page_reader *r, uint64_t address, void *to, size_t size)
{
	return page_read_some(r, address, to, size) == size;
}
