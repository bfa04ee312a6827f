#include "attach/agent/jvm/known_classes.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/vm_version.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/place/klass.h"

#define WEAK_REFERENCE "java/lang/ref/WeakReference"
#define VIRTUAL_THREAD "java/lang/VirtualThread"

/* Which has them. */
#define RELEASE_VIRTUAL 21

/* More than a boot loader has. */
#define CLASSES_MAX 200000u

/* So much of a Klass is read. */
#define HEAD_BYTES 256u

/* T_BOOLEAN, of BasicType (globalDefinitions.hpp). */
#define ELEMENT_FIRST 4u

/* Layout helpers of arrays of primitives have both of their highest bits set (Klass::_lh_array_tag,
 * klass.hpp). */
#define PRIMITIVES_SHIFT 30u
#define PRIMITIVES_TAG   3u

/* Boot classes stay where they are: of the JVM. */
static struct {
	bool looked;
	uint64_t weak_reference, virtual_thread;
	uint64_t primitives[KNOWN_PRIMITIVES];
} found;

/* The longest name that is looked for. */
#define NAME_BYTES (sizeof(WEAK_REFERENCE) - 1)

struct offsets {
	uint64_t name, next, layout;         /* in Klass, */
	size_t end;                          /* of which so many bytes are read */
	uint64_t symbol_length, symbol_body; /* in Symbol */
};

uint64_t known_class(const char *name)
{
	/* From JDK 16 on, and before. */
	static const char *const tables[][2] = {
	    {"vmClasses", "_klasses[static_cast<int>(vmClassID::%s_klass_knum)]"},
	    {"SystemDictionary", "_well_known_klasses[SystemDictionary::%s_klass_knum]"},
	};
	char field[128];
	uint64_t klass;

	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		(void)snprintf(field, sizeof(field), tables[i][1], name); /* It fits. */
		if (vmstructs_static_word(tables[i][0], field, &klass))
			return klass;
	}
	return 0;
}

static bool find_offsets(struct offsets *at)
{
	if (!vmstructs_offset("Klass", "_name", &at->name) ||
	    !vmstructs_offset("Klass", "_next_link", &at->next) ||
	    !vmstructs_offset("Klass", "_layout_helper", &at->layout) ||
	    !vmstructs_offset("Symbol", "_length", &at->symbol_length) ||
	    !vmstructs_offset("Symbol", "_body", &at->symbol_body))
		return false;
	at->end = at->name > at->next ? at->name : at->next;
	if (at->layout > at->end)
		at->end = at->layout;
	at->end += sizeof(uint64_t);
	return at->end <= HEAD_BYTES;
}

static bool is_named(const struct offsets *at, uint64_t symbol, const char *name)
{
	char text[NAME_BYTES];
	uint16_t length;

	return safe_read(symbol + at->symbol_length, &length, sizeof(length)) &&
	       length == strlen(name) && length <= sizeof(text) &&
	       safe_read(symbol + at->symbol_body, text, length) && memcmp(text, name, length) == 0;
}

/* How many of the classes that are looked for are found. */
static unsigned note(const struct offsets *at, uint64_t klass, const uint8_t *head)
{
	const struct {
		const char *name;
		uint64_t *klass;
	} named[] = {{WEAK_REFERENCE, &found.weak_reference},
		     {VIRTUAL_THREAD, &found.virtual_thread}};
	uint64_t name;
	int32_t layout;
	uint32_t type;

	memcpy(&layout, head + at->layout, sizeof(layout));
	type = klass_element_type(layout) - ELEMENT_FIRST;
	if ((uint32_t)layout >> PRIMITIVES_SHIFT == PRIMITIVES_TAG) {
		if (type >= KNOWN_PRIMITIVES || found.primitives[type])
			return 0;
		found.primitives[type] = klass;
		return 1;
	}
	memcpy(&name, head + at->name, sizeof(name));
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (klass_is_array(layout) || *named[i].klass || !is_named(at, name, named[i].name))
			continue;
		*named[i].klass = klass;
		return 1;
	}
	return 0;
}

static void look(uint64_t object)
{
	uint64_t words[HEAD_BYTES / sizeof(uint64_t)], loader, klass;
	const uint8_t *head = (const uint8_t *)words;
	struct offsets at;
	unsigned left = KNOWN_PRIMITIVES + 1 + (vm_release() >= RELEASE_VIRTUAL);

	if (!find_offsets(&at) ||
	    !vmstructs_field_word(object, "Klass", "_class_loader_data", &loader) ||
	    !vmstructs_field_word(loader, "ClassLoaderData", "_klasses", &klass))
		return;
	for (unsigned i = 0; i < CLASSES_MAX && klass && left > 0; i++) {
		if (!safe_read(klass, words, at.end))
			return;
		left -= note(&at, klass, head);
		memcpy(&klass, head + at.next, sizeof(klass));
	}
}

static void look_once(uint64_t object)
{
	if (!found.looked)
		look(object);
	found.looked = true;
}

static uint64_t array_of(uint64_t klass)
{
	uint64_t array;

	return vmstructs_field_word(klass, "InstanceKlass", "_array_klasses", &array) ? array : 0;
}

void known_classes_find(struct known_classes *out)
{
	*out = (struct known_classes){
	    .object = known_class("Object"),
	    .string = known_class("String"),
	    .class = known_class("Class"),
	    .class_loader = known_class("ClassLoader"),
	};
	out->objects = array_of(out->object);
	out->strings = array_of(out->string);
	look_once(out->object);
	out->weak_reference = found.weak_reference;
	out->virtual_thread = found.virtual_thread;
	memcpy(out->primitives, found.primitives, sizeof(out->primitives));
}

bool known_classes_virtual_threads(void)
{
	uint64_t offset;
	int32_t initialized;
	uint8_t state;

	look_once(known_class("Object"));
	return found.virtual_thread && vmstructs_offset("InstanceKlass", "_init_state", &offset) &&
	       vmstructs_int_constant("InstanceKlass::fully_initialized", &initialized) &&
	       safe_read(found.virtual_thread + offset, &state, sizeof(state)) &&
	       state == (uint8_t)initialized;
}
