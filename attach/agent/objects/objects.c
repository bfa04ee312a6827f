#include "attach/agent/objects/objects.h"

#include <errno.h>

#include "common/pages.h"

/* Objects read between two looks at the epoch. */
#define CHUNK 256u

int objects_init(struct objects *o, unsigned max, const struct object_memory *memory)
{
	*o = (struct objects){.memory = *memory};
	if (max > OBJECTS_LIMIT)
		max = OBJECTS_LIMIT;
	o->list = pages_new(max * sizeof(*o->list));
	if (!o->list)
		return -ENOMEM;
	o->max = max;
	return 0;
}

void objects_clear(struct objects *o)
{
	o->count = 0;
	o->passing = o->settled = false;
}

void objects_drop(struct objects *o)
{
	for (unsigned i = 0; i < o->count; i++)
		o->memory.release(o->memory.arg, &o->list[i]);
	objects_clear(o);
}

void objects_release(struct objects *o)
{
	objects_drop(o);
	pages_free(o->list, o->max * sizeof(*o->list));
	*o = (struct objects){0};
}

uint32_t objects_add(struct objects *o, void *ref, uint64_t address, uint32_t kept_words)
{
	if (o->count == o->max || o->last_id == UINT32_MAX)
		return 0;
	o->list[o->count++] = (struct object_entry){
	    .ref = ref,
	    .reported = address,
	    .found = address,
	    .id = ++o->last_id,
	    .kept_words = kept_words,
	};
	return o->last_id;
}

bool objects_is_settled(const struct objects *o, uint32_t epoch)
{
	return o->settled && o->settled_epoch == epoch;
}

bool objects_was_missed(const struct objects *o, uint32_t epoch)
{
	return o->settled && epoch < o->settled_epoch;
}

static bool is_running(uint32_t epoch)
{
	return epoch % 2 == 0;
}

static void begin(struct objects *o, uint32_t epoch)
{
	o->passing = true;
	o->pass_epoch = epoch;
	o->cursor = 0;
}

static void read_chunk(struct objects *o)
{
	unsigned end = o->count - o->cursor > CHUNK ? o->cursor + CHUNK : o->count;

	for (; o->cursor < end; o->cursor++)
		o->list[o->cursor].found = o->memory.address(o->memory.arg, o->list[o->cursor].ref);
}

enum objects_pass objects_pass(struct objects *o, const _Atomic uint32_t *epoch, unsigned limit)
{
	uint32_t now = atomic_load_explicit(epoch, memory_order_acquire);

	for (unsigned read = 0; read < limit; read += CHUNK) {
		if (o->passing && now != o->pass_epoch) {
			o->overtaken++;
			o->passing = false;
		}
		if (!is_running(now) || objects_is_settled(o, now))
			return PASS_NONE;
		if (!o->passing)
			begin(o, now);
		read_chunk(o);
		/* The reads come before this look at the epoch. */
		atomic_thread_fence(memory_order_acquire);
		now = atomic_load_explicit(epoch, memory_order_acquire);
		if (now == o->pass_epoch && o->cursor == o->count) {
			o->passing = false;
			o->settled = true;
			o->settled_epoch = now;
			o->passes++;
			return PASS_DONE;
		}
	}
	return PASS_MORE;
}

void objects_report(struct objects *o, void (*each)(void *arg, uint32_t id, uint64_t address),
		    void *arg)
{
	for (unsigned i = 0; i < o->count;) {
		struct object_entry *object = &o->list[i];

		if (object->found == 0) {
			o->died++;
			each(arg, object->id, 0);
			o->memory.release(o->memory.arg, object);
			*object = o->list[--o->count];
			continue;
		}
		if (object->found != object->reported) {
			o->moved++;
			object->reported = object->found;
			each(arg, object->id, object->found);
		}
		i++;
	}
}
