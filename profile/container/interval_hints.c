#include "profile/container/interval_hints.h"

#include <stdlib.h>

void interval_hints_release(struct interval_hints *h)
{
	free(h->slots);
	*h = (struct interval_hints){0};
}

void interval_hints_resize(struct interval_hints *h, uint32_t nodes)
{
	uint32_t bits = nodes ? 33 - (uint32_t)__builtin_clz(nodes) : 0;
	uint32_t shift = h->shift;

	if (h->slots && h->bits == bits)
		return;
	interval_hints_release(h);
	h->shift = shift;
	h->slots = calloc((size_t)1 << bits, sizeof(*h->slots));
	if (!h->slots)
		return;
	h->bits = bits;
	h->mask = (uint32_t)((UINT64_C(1) << bits) - 1);
}

size_t interval_hints_memory_bytes(const struct interval_hints *h)
{
	return h->slots ? ((size_t)h->mask + 1) * sizeof(*h->slots) : 0;
}
