#include "attach/agent/stream/place_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "attach/agent/handler/handlers.h"

/* Elements of an array are one place. */
#define ANY_ELEMENT UINT32_MAX

void place_numbers_init(struct place_numbers *p)
{
	*p = (struct place_numbers){0};
	numbering_init(&p->numbers);
}

void place_numbers_release(struct place_numbers *p)
{
	numbering_release(&p->numbers);
	free(p->types);
	*p = (struct place_numbers){0};
}

static struct numbering_key key_of(const struct place *p)
{
	uint32_t offset = p->element ? ANY_ELEMENT : p->offset;

	return (struct numbering_key){(uint64_t)p->klass << 32 | p->subject,
				      (uint64_t)offset << 32 | p->kind};
}

static bool reserve(struct place_numbers *p, uint32_t id)
{
	size_t capacity = p->type_capacity ? 2 * p->type_capacity : 256;
	struct place_type *grown;

	if (id < p->type_capacity)
		return true;
	grown = realloc(p->types, capacity * sizeof(*grown));
	if (!grown)
		return false;
	memset(grown + p->type_capacity, 0, (capacity - p->type_capacity) * sizeof(*grown));
	p->types = grown;
	p->type_capacity = capacity;
	return true;
}

/* Tells the engine of a new number. One whose class has gone is told as not known: it keeps its
 * number, so it is tried once. */
static void tell(struct place_numbers *p, struct batch *b, uint32_t id, const struct place *place)
{
	struct place_name name = {.kind = JXP__LOCATION__KIND__UNKNOWN};

	switch (place->kind) {
	case PLACE_SPILL:
		name.kind = JXP__LOCATION__KIND__SPILL;
		break;
	case PLACE_STACK:
		name.kind = JXP__LOCATION__KIND__STACK;
		break;
	default:
		if (!place_name_resolve(&handlers.layout, &handlers.regions, place, &name))
			p->lost++;
	}
	p->types[id] = (struct place_type){.typed = name.typed, .element = (uint8_t)name.element};
	(void)batch_location(b, id, &name); /* batch.failed tells. */
	place_name_release(&name);
}

uint32_t place_numbers_of(struct place_numbers *p, struct batch *b, const struct place *place,
			  struct place_type *type)
{
	bool added;
	uint32_t id;

	if (place->kind == PLACE_NONE)
		return 0;
	id = numbering_intern(&p->numbers, key_of(place), &added);
	if (id == 0 && numbering_is_full(&p->numbers))
		p->lost++;
	if (id == 0 || !reserve(p, id)) {
		b->failed |= !numbering_is_full(&p->numbers);
		return 0;
	}
	if (added)
		tell(p, b, id, place);
	*type = p->types[id];
	return id;
}
