#include "attach/agent/place/place.h"

#include <stdbool.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/place/klass.h"
#include "attach/agent/place/object_header.h"
#include "common/code/registers.h"

/* The longest array has 2^31 elements of 8 bytes. */
#define OBJECT_BYTES_MAX (UINT64_C(1) << 34)

/* Slots of the frame that are looked at, from the stack pointer on. */
#define FRAME_WORDS 160u

/* Candidates in a frame and in registers, both readings of each, and how many of them are looked
 * up: each takes a system call. */
#define CANDIDATES_MAX (2u * 2u * FRAME_WORDS)
#define LOOKUPS_MAX    8u

/* Bytes before the access in which its object may begin whatever it is; a compact header is one
 * word, which other data resembles more easily. Arrays may begin farther away. */
#define NEAR_BYTES         512u
#define NEAR_BYTES_COMPACT 128u

/* How far: 256 KiB, read in parts. Measured at some 0.1 ms; what was found is remembered. */
#define CHUNK_WORDS 256u
#define CHUNKS_MAX  128u

/* Accesses for which that is not done after it was in vain. */
#define PASS_OVER_MAX 63u

/* Objects that are remembered are at least so large: others are found as fast as looked up. */
#define REMEMBERED_BYTES 1024u

/* Holds what does not change while one access is looked up. */
struct place_search {
	const struct object_layout *layout;
	const struct region_map *regions;
	uint64_t address; /* canonical */
	uint64_t before;  /* where its object begins */
	enum place_result failure;
};

static uint32_t subject_of(const struct place_search *s, uint64_t object, const struct klass *klass)
{
	struct klass subject;
	uint64_t address;

	if (!s->layout->mirror_class || klass_address(klass->id) != s->layout->mirror_class ||
	    !safe_read(object + s->layout->mirror_klass, &address, sizeof(address)) ||
	    klass_find(s->layout, s->regions, address, &subject) != KLASS_FOUND)
		return 0;
	return subject.id;
}

/* Is there an object at this address that holds the accessed one? */
static bool holds(struct place_search *s, uint64_t object, struct place *out)
{
	uint64_t header[OBJECT_HEADER_WORDS] = {0};
	struct klass klass;
	uint64_t bytes, offset = s->address - object;

	if (!object_header_read(s->layout, object, header) ||
	    !object_header_is_mark(s->layout, header[0]))
		return false;
	switch (klass_find(s->layout, s->regions, object_header_class(s->layout, header), &klass)) {
	case KLASS_FOUND:
		break;
	case KLASS_NONE:
		s->failure = PLACE_NO_CLASS;
		return false;
	case KLASS_FULL:
		s->failure = PLACE_FULL;
		return false;
	}
	bytes = object_header_object_bytes(s->layout, object, &klass, header);
	if (object >= s->before || offset >= bytes ||
	    (s->layout->heap_max && bytes > s->layout->heap_max))
		return false;
	*out = (struct place){
	    .klass = klass.id,
	    .subject = subject_of(s, object, &klass),
	    .offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX,
	    .words = bytes / 8 < UINT32_MAX ? (uint32_t)((bytes + 7) / 8) : UINT32_MAX,
	    .kind = PLACE_OBJECT,
	    .header_bytes = klass_is_array(klass.layout_helper)
				? (uint8_t)klass_array_header_bytes(klass.layout_helper)
				: 0,
	};
	out->element = out->header_bytes > 0 && offset >= out->header_bytes;
	return true;
}

/* Could the value be a pointer to an object that holds the address? */
static bool is_candidate(const struct place_search *s, uint64_t value)
{
	return value % 8 == 0 && value <= s->address && s->address - value < OBJECT_BYTES_MAX &&
	       region_is_heap(s->regions, value);
}

/* The pointers that a register's value may be: itself, and as a narrow one. Returns how many. */
static unsigned readings(const struct place_search *s, uint64_t value, uint64_t out[2])
{
	const struct narrow_pointers *narrow = &s->layout->oops;
	uint64_t plain = region_canonical(s->regions, value);
	unsigned count = 0;

	if (is_candidate(s, plain))
		out[count++] = plain;
	if (narrow->used && value && value <= UINT32_MAX) {
		uint64_t decoded = narrow->base + (value << narrow->shift);

		if (decoded != plain && is_candidate(s, decoded))
			out[count++] = decoded;
	}
	return count;
}

/* A register of the operand: in use, so what it points to is there. */
static bool named_by(struct place_search *s, int reg, const gregset_t regs, struct place *out)
{
	uint64_t read[2];
	unsigned count = reg >= 0 ? readings(s, register_value(regs, reg), read) : 0;

	for (unsigned i = 0; i < count; i++)
		if (holds(s, read[i], out))
			return true;
	return false;
}

struct place_candidates {
	uint64_t list[CANDIDATES_MAX];
	unsigned count;
};

static void add(const struct place_search *s, struct place_candidates *c, uint64_t value)
{
	uint64_t read[2];
	unsigned count = readings(s, value, read);

	for (unsigned i = 0; i < count && c->count < CANDIDATES_MAX; i++)
		c->list[c->count++] = read[i];
}

static void add_frame(const struct place_search *s, struct place_candidates *c,
		      const gregset_t regs)
{
	uint64_t words[FRAME_WORDS];
	size_t read = safe_read_some((uint64_t)regs[REG_RSP], words, sizeof(words));

	for (size_t i = 0; i < read / sizeof(words[0]); i++) {
		add(s, c, words[i]);
		if (s->layout->oops.used && words[i] > UINT32_MAX) {
			add(s, c, words[i] & UINT32_MAX);
			add(s, c, words[i] >> 32);
		}
	}
}

/* Takes out the nearest one left, the highest; 0: there is none. */
static uint64_t take_nearest(struct place_candidates *c)
{
	uint64_t nearest = 0;

	for (unsigned i = 0; i < c->count; i++)
		if (c->list[i] > nearest)
			nearest = c->list[i];
	for (unsigned i = 0; i < c->count; i++)
		if (c->list[i] == nearest)
			c->list[i] = 0;
	return nearest;
}

static bool held_by(struct place_search *s, struct place_candidates *c, struct place *out)
{
	for (unsigned i = 0; i < LOOKUPS_MAX; i++) {
		uint64_t object = take_nearest(c);

		if (object == 0)
			return false;
		if (holds(s, object, out))
			return true;
	}
	return false;
}

static bool in_registers(struct place_search *s, const gregset_t regs, struct place *out)
{
	struct place_candidates c = {.count = 0};

	/* r15 is the JavaThread. */
	for (int reg = RAX; reg < R15; reg++)
		if (reg != RSP)
			add(s, &c, register_value(regs, reg));
	return held_by(s, &c, out);
}

static bool in_frame(struct place_search *s, const gregset_t regs, struct place *out)
{
	struct place_candidates c = {.count = 0};

	add_frame(s, &c, regs);
	return held_by(s, &c, out);
}

/* Does the header that begins with this word, the next one behind it, look like that of an object
 * that may hold the address? Far before it only an array can begin. */
static bool may_begin(const struct place_search *s, const uint64_t *words, uint64_t at)
{
	uint64_t distance = s->address - at;
	struct klass klass;

	if (!object_header_is_mark(s->layout, words[0]) ||
	    !klass_is_met(object_header_class(s->layout, words)))
		return false;
	if (distance < NEAR_BYTES)
		return s->layout->class_word != CLASS_WORD_COMPACT || distance < NEAR_BYTES_COMPACT;
	return klass_find(s->layout, s->regions, object_header_class(s->layout, words), &klass) ==
		   KLASS_FOUND &&
	       klass_is_array(klass.layout_helper);
}

/* A pointer into an object may be all that is left of one to it: C2 makes one to the field that it
 * stores to with G1's barrier (JDK 24), and hands one to the stubs that fill arrays. Then the
 * object's header lies before: the nearest word that looks like one, of a class that handlers have
 * met, whose object holds the address. What lies in between is the object's own, which would have
 * to look like a header. */
static bool begins_before(struct place_search *s, unsigned chunks, struct place *out)
{
	uint64_t words[CHUNK_WORDS + 1] = {0}; /* With what follows the last one. */
	uint64_t end = (s->before + 7) & ~UINT64_C(7);

	while (chunks-- > 0) {
		uint64_t first = end - CHUNK_WORDS * sizeof(words[0]);

		words[CHUNK_WORDS] = words[0];
		if (!region_is_heap(s->regions, first) ||
		    !safe_read(first, words, CHUNK_WORDS * sizeof(words[0])))
			return false;
		for (unsigned i = CHUNK_WORDS; i-- > 0;) {
			uint64_t at = first + i * sizeof(words[0]);

			if (may_begin(s, &words[i], at) && holds(s, at, out))
				return true;
		}
		end = first;
	}
	return false;
}

/* Near, or far if it is worth it. */
static bool found_before(struct place_search *s, struct place_memory *met, struct place *out)
{
	bool far = met->passed_over >= met->pass_over;

	if (!far)
		met->passed_over++;
	if (begins_before(s, far ? CHUNKS_MAX : 1, out)) {
		met->pass_over = far ? 0 : met->pass_over;
		return true;
	}
	if (far) {
		met->passed_over = 0;
		met->pass_over =
		    met->pass_over < PASS_OVER_MAX ? 2 * met->pass_over + 1 : PASS_OVER_MAX;
	}
	return false;
}

static bool recall(const struct place_memory *m, uint64_t address, struct place *out)
{
	for (unsigned i = 0; i < PLACE_REMEMBERED; i++) {
		const struct place_remembered *r = &m->objects[i];
		uint64_t offset = address - r->address;

		if (r->address == 0 || offset >= r->bytes)
			continue;
		*out = r->place;
		out->offset = offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX;
		out->element = offset >= out->header_bytes;
		return true;
	}
	return false;
}

/* Arrays only: where in them makes no difference to what it is called. */
static void remember(struct place_memory *m, uint64_t address, const struct place *found)
{
	if (found->header_bytes == 0 || (uint64_t)found->words * 8 < REMEMBERED_BYTES ||
	    found->offset == UINT32_MAX)
		return;
	m->objects[m->next++ % PLACE_REMEMBERED] = (struct place_remembered){
	    .address = address - found->offset,
	    .bytes = (uint64_t)found->words * 8,
	    .place = *found,
	};
}

void place_forget(struct place_memory *m)
{
	memset(m->objects, 0, sizeof(m->objects));
}

static uint32_t header_end(const struct object_layout *layout, const struct place *p)
{
	return p->header_bytes ? p->header_bytes : object_header_end(layout);
}

/* Is this where the thread allocates? r15 is the JavaThread in compiled code. */
static bool in_allocation_buffer(const struct place_search *s, const gregset_t regs)
{
	uint64_t thread = (uint64_t)regs[REG_R15], start, end;

	return s->layout->tlab_end &&
	       safe_read(thread + s->layout->tlab_start, &start, sizeof(start)) &&
	       safe_read(thread + s->layout->tlab_end, &end, sizeof(end)) &&
	       s->address >= region_canonical(s->regions, start) &&
	       s->address < region_canonical(s->regions, end);
}

/* A loop that clears a new object may have a pointer to where its own part begins, and there may
 * still be another one's header: then the new one's lies just before, and its object is around
 * both.
 */
static void prefer_around(struct place_search *s, struct place *p)
{
	uint64_t object = s->address - p->offset;
	struct place around;

	for (uint64_t header = sizeof(uint64_t); header <= OBJECT_HEADER_BYTES;
	     header += sizeof(uint64_t))
		if (is_candidate(s, object - header) && holds(s, object - header, &around)) {
			*p = around;
			return;
		}
}

/* What a string instruction has stored to has no old headers any more: the nearest before it is the
 * new object's. */
static bool found_forward(struct place_search *s, const struct place_operand *operand,
			  struct place_memory *met, struct place *out)
{
	struct place p;

	s->before = operand->stored_to;
	if (!operand->stored_to || !found_before(s, met, &p) ||
	    p.offset < header_end(s->layout, &p))
		return false;
	*out = p;
	return true;
}

static enum place_result look_up(struct place_search *s, const struct place_operand *operand,
				 const gregset_t regs, struct place_memory *met, struct place *out)
{
	struct place p;
	bool named = named_by(s, operand->base, regs, &p) ||
		     (operand->index != operand->base && named_by(s, operand->index, regs, &p));

	/* It may be one that clears a new object, some loops of which go backward. */
	if (operand->plain_store && !operand->to_made && in_allocation_buffer(s, regs)) {
		if (!named)
			return found_forward(s, operand, met, out) ? PLACE_FOUND : PLACE_FRESH;
		prefer_around(s, &p);
	}
	if (!named && !in_registers(s, regs, &p) && !in_frame(s, regs, &p) &&
	    !found_before(s, met, &p))
		return s->failure;
	if (operand->plain_store && p.offset < header_end(s->layout, &p))
		return PLACE_FRESH;
	*out = p;
	return PLACE_FOUND;
}

enum place_result place_find(const struct object_layout *layout, const struct region_map *regions,
			     uint64_t address, const struct place_operand *operand,
			     const gregset_t regs, struct place_memory *met, struct place *out)
{
	struct place_search s = {.layout = layout,
				 .regions = regions,
				 .address = region_canonical(regions, address),
				 .before = region_canonical(regions, address) + 1,
				 .failure = PLACE_NO_OBJECT};
	enum place_result r;

	if (layout->class_word == CLASS_WORD_NONE)
		return PLACE_NO_OBJECT;
	if (recall(met, s.address, out))
		return PLACE_FOUND;
	r = look_up(&s, operand, regs, met, out);
	if (r == PLACE_FOUND)
		remember(met, s.address, out);
	return r;
}

bool place_holds(const struct object_layout *layout, const struct region_map *regions,
		 uint64_t address, const struct place *found)
{
	struct place_search s = {.layout = layout,
				 .regions = regions,
				 .address = region_canonical(regions, address),
				 .before = region_canonical(regions, address) + 1};
	struct place now;

	return found->kind != PLACE_OBJECT || found->offset == UINT32_MAX ||
	       (holds(&s, s.address - found->offset, &now) && now.klass == found->klass);
}
