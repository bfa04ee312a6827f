#include "attach/agent/code/page_reader.h"

#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "common/mix.h"

#define PAGE_BYTES PAGE_READER_PAGE_BYTES

void page_reader_forget(struct page_reader *r)
{
	for (unsigned i = 0; i < PAGE_READER_PAGES; i++)
		r->own[i].address = 0;
	for (unsigned i = 0; i < r->set_count; i++)
		memset(r->sets[i].addresses, 0, sizeof(r->sets[i].addresses));
}

static const uint8_t *page_at(struct page_reader *r, uint64_t begin)
{
	struct page_copy *page = &r->own[begin / PAGE_BYTES % PAGE_READER_PAGES];

	if (page->address != begin || begin == 0) {
		page->address = 0;
		if (!safe_read(begin, page->bytes, PAGE_BYTES))
			return NULL;
		page->address = begin;
	}
	return page->bytes;
}

static const uint8_t *part_at(struct page_reader *r, uint64_t begin)
{
	struct page_set *set = &r->sets[mix(begin) % r->set_count];
	uint32_t i;

	for (i = 0; i < PAGE_SET_PARTS; i++)
		if (set->addresses[i] == begin && begin)
			return set->bytes[i];
	i = set->next++ % PAGE_SET_PARTS;
	set->addresses[i] = 0;
	if (!safe_read(begin, set->bytes[i], PAGE_PART_BYTES))
		return NULL;
	set->addresses[i] = begin;
	return set->bytes[i];
}

size_t page_read_some(struct page_reader *r, uint64_t address, void *to, size_t size)
{
	size_t unit = r->set_count ? PAGE_PART_BYTES : PAGE_BYTES, done = 0;

	while (done < size) {
		size_t at = (address + done) % unit;
		size_t part = unit - at < size - done ? unit - at : size - done;
		uint64_t begin = address + done - at;
		const uint8_t *bytes = r->set_count ? part_at(r, begin) : page_at(r, begin);

		if (!bytes)
			break;
		memcpy((uint8_t *)to + done, bytes + at, part);
		done += part;
	}
	return done;
}

bool page_read(struct page_reader *r, uint64_t address, void *to, size_t size)
{
	return page_read_some(r, address, to, size) == size;
}
