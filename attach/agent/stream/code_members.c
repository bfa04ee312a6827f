#include "attach/agent/stream/code_members.h"

#include <stdlib.h>
#include <string.h>

#include "attach/agent/method/java_name.h"
#include "common/mix.h"

/* The longest text; a longer one is left out. */
#define TEXT_MAX 1024u

#define SYMBOL_SLOTS (2u * CODE_MEMBERS_SYMBOLS)
#define MEMBER_SLOTS (2u * CODE_MEMBERS_MAX)

struct named_member {
	struct code_member text; /* of what is kept of texts */
	int32_t pool;
	struct reference first; /* that named it; of a field, with no op */
	bool looked, selected;  /* its targets: by classes that the image's code names */
	uint32_t image;         /* whose list it was put in last, */
	uint32_t place;         /* and where */
	struct member_targets targets;
};

/* How a text is sent: in the lowest bits of its Symbol's address. */
enum text_kind {
	TEXT_PLAIN,
	TEXT_CLASS, /* as Java names it */
	TEXT_CALL,  /* a descriptor without the names of classes */
};

struct symbol {
	uint64_t address; /* with an enum text_kind */
	uint32_t text;
};

/* A constant pool, and a method of its. */
struct known_pool {
	uint64_t address; /* 0: it is gone */
	const struct method_copy *method;
};

struct code_members {
	struct page_set pages[CODE_MEMBERS_PAGES];
	struct page_reader reader;
	struct pool_reader pools;
	uint64_t *classes; /* that the compiled code names */
	size_t class_count;
	struct named_member members[CODE_MEMBERS_MAX];
	uint16_t member_slots[MEMBER_SLOTS]; /* index + 1 */
	struct known_pool known[CODE_MEMBERS_POOLS];
	struct symbol symbols[SYMBOL_SLOTS]; /* of this image */
	char texts[CODE_MEMBERS_TEXT];
	uint32_t count, pool_count, symbol_count, text_bytes;
	struct code_member list[CODE_MEMBERS_MAX]; /* of this image, */
	char image_texts[CODE_MEMBER_BYTES];       /* and what is sent of texts */
	uint32_t image, list_count, image_text_bytes;
	bool cut;
};

_Static_assert(sizeof(struct code_members) <= CODE_MEMBERS_BYTES, "what one takes");

struct code_members *code_members_new(const struct method_layout *layout)
{
	struct code_members *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->reader.sets = m->pages;
	m->reader.set_count = CODE_MEMBERS_PAGES;
	m->pools = (struct pool_reader){layout, &m->reader};
	code_members_forget(m);
	return m;
}

void code_members_free(struct code_members *m)
{
	if (m)
		free(m->classes);
	free(m);
}

void code_members_forget(struct code_members *m)
{
	memset(m->member_slots, 0, sizeof(m->member_slots));
	memset(m->symbols, 0, sizeof(m->symbols));
	m->count = m->pool_count = m->symbol_count = 0;
	m->text_bytes = 1; /* "" */
	m->list_count = 0;
	m->image_text_bytes = 1;
	m->cut = false;
}

/* A Symbol's place may have become another's: those are of one image. */
bool code_members_begin(struct code_members *m, const uint64_t *names, size_t count)
{
	page_reader_forget(&m->reader);
	memset(m->symbols, 0, sizeof(m->symbols));
	m->symbol_count = m->list_count = 0;
	m->image_text_bytes = 1;
	m->cut = false;
	m->image++;
	free(m->classes);
	m->class_count = 0;
	m->classes = malloc((count + 1) * sizeof(*m->classes));
	if (!m->classes)
		return false;
	m->class_count = targets_classes(&m->pools, names, count, m->classes);
	return true;
}

const struct pool_reader *code_members_reader(const struct code_members *m)
{
	return &m->pools;
}

/* ---------------------------------------------------------------- texts */

/* 0 where it has no room. */
static uint32_t keep_text(struct code_members *m, const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint32_t at = m->text_bytes;

	if (m->text_bytes + bytes > CODE_MEMBERS_TEXT) {
		m->cut = true;
		return 0;
	}
	memcpy(m->texts + at, text, bytes);
	m->text_bytes += (uint32_t)bytes;
	return at;
}

/* What lies on the stack before and after, of the classes no more than that they are some. */
static void leave_classes_out(char *descriptor)
{
	char *to = descriptor;
	bool in_class = false;

	for (const char *from = descriptor; *from; from++) {
		if (in_class && *from != ';')
			continue;
		in_class = *from == 'L';
		*to++ = *from;
	}
	*to = '\0';
}

static uint32_t read_text(struct code_members *m, uint64_t symbol, enum text_kind kind)
{
	char text[TEXT_MAX], *name;
	uint32_t at;

	if (reference_text(&m->pools, symbol, text, sizeof(text)) == 0)
		return 0;
	if (kind == TEXT_CALL)
		leave_classes_out(text);
	if (kind != TEXT_CLASS)
		return keep_text(m, text);
	name = java_name_of_symbol(text);
	at = name ? keep_text(m, name) : 0;
	free(name);
	return at;
}

/* Each Symbol is read once. */
static uint32_t text_of(struct code_members *m, uint64_t symbol, enum text_kind kind)
{
	uint64_t key = symbol | kind, hash = mix(key);

	for (;; hash++) {
		struct symbol *s = &m->symbols[hash % SYMBOL_SLOTS];

		if (s->address == key)
			return s->text;
		if (s->address)
			continue;
		if (m->symbol_count == CODE_MEMBERS_SYMBOLS) {
			m->cut = true;
			return 0;
		}
		*s = (struct symbol){key, read_text(m, symbol, kind)};
		m->symbol_count++;
		return s->text;
	}
}

/* ---------------------------------------------------------------- pools */

int32_t code_members_pool(struct code_members *m, const struct method_copy *method)
{
	uint64_t address = method->look.constants;

	for (uint32_t i = 0; i < m->pool_count; i++) {
		struct known_pool *pool = &m->known[i];

		if (pool->address != address)
			continue;
		if (pool->method == method || method_is_still(m->pools.layout, pool->method))
			return (int32_t)i;
		pool->address = 0;
	}
	if (m->pool_count == CODE_MEMBERS_POOLS) {
		m->cut = true;
		return -1;
	}
	m->known[m->pool_count] = (struct known_pool){address, method};
	return (int32_t)m->pool_count++;
}

/* ---------------------------------------------------------------- members */

/* False where a text is missing. */
static bool name_member(struct code_members *m, const struct member_look *look,
			const struct reference *r, bool is_field, struct code_member *to)
{
	uint64_t declares = r->klass, declaring;

	to->class_name = text_of(m, look->class_name, TEXT_CLASS);
	/* Nobody needs the name of a method that has bytecodes and nothing else. */
	if (is_field || targets_own_code(&m->pools, look, r, &declares))
		to->name = text_of(m, look->name, TEXT_PLAIN);
	to->descriptor = text_of(m, look->descriptor, is_field ? TEXT_PLAIN : TEXT_CALL);
	declaring = declares ? reference_class_name(&m->pools, declares) : 0;
	if (declaring && declaring != look->class_name)
		to->declared_in = text_of(m, declaring, TEXT_CLASS);
	return to->class_name && (!is_field || (to->name && to->descriptor));
}

/* -1: it is none, or has no room. */
static int32_t add(struct code_members *m, int32_t pool, const struct reference *r, uint8_t op)
{
	struct named_member *member = &m->members[m->count];
	struct member_look look;

	if (m->count == CODE_MEMBERS_MAX) {
		m->cut = true;
		return -1;
	}
	*member = (struct named_member){.pool = pool, .first = *r};
	member->first.op = op;
	if (!reference_look(&m->pools, m->known[pool].address, r->entry, &look) ||
	    !name_member(m, &look, r, !op, &member->text))
		return -1;
	return (int32_t)m->count++;
}

int32_t code_members_find(struct code_members *m, int32_t pool, const struct reference *reference)
{
	uint8_t op = reference_is_call(reference->op) ? reference->op : 0;
	uint64_t hash = mix((uint64_t)pool << 32 ^ (uint64_t)reference->entry << 8 ^ (uint64_t)op);
	int32_t index;

	/* Never more than half full. */
	for (;; hash++) {
		uint16_t *slot = &m->member_slots[hash % MEMBER_SLOTS];
		const struct named_member *there = &m->members[*slot ? *slot - 1 : 0];

		if (*slot && there->pool == pool && there->first.entry == reference->entry &&
		    there->first.op == op)
			return *slot - 1;
		if (*slot)
			continue;
		index = add(m, pool, reference, op);
		if (index >= 0)
			*slot = (uint16_t)(index + 1);
		return index;
	}
}

uint32_t code_members_text(struct code_members *m, const char *text)
{
	size_t bytes = strlen(text) + 1;
	uint32_t at = m->image_text_bytes;

	if (!*text)
		return 0;
	if (bytes > CODE_MEMBER_BYTES - at) {
		m->cut = true;
		return 0;
	}
	memcpy(m->image_texts + at, text, bytes);
	m->image_text_bytes += (uint32_t)bytes;
	return at;
}

int32_t code_members_use(struct code_members *m, uint32_t index)
{
	struct named_member *member = &m->members[index];
	const struct code_member *text = &member->text;
	size_t bytes;

	if (member->image == m->image)
		return (int32_t)member->place;
	bytes = strlen(m->texts + text->class_name) + strlen(m->texts + text->name) +
		strlen(m->texts + text->descriptor) + strlen(m->texts + text->declared_in) + 4;
	if (bytes > CODE_MEMBER_BYTES - m->image_text_bytes) {
		m->cut = true;
		return -1;
	}
	if (member->selected) {
		member->looked = member->selected = false;
		member->targets = (struct member_targets){0};
	}
	member->image = m->image;
	member->place = m->list_count;
	m->list[m->list_count++] =
	    (struct code_member){.class_name = code_members_text(m, m->texts + text->class_name),
				 .name = code_members_text(m, m->texts + text->name),
				 .descriptor = code_members_text(m, m->texts + text->descriptor),
				 .declared_in = code_members_text(m, m->texts + text->declared_in)};
	return (int32_t)member->place;
}

struct member_targets *code_members_targets(struct code_members *m, uint32_t index)
{
	struct named_member *member = &m->members[index];
	struct member_look look;

	if (member->looked)
		return &member->targets;
	member->looked = true;
	if (member->first.op &&
	    reference_look(&m->pools, m->known[member->pool].address, member->first.entry, &look))
		member->targets.count =
		    (uint8_t)targets_of(&m->pools, &look, &member->first, m->classes,
					m->class_count, member->targets.methods, &member->selected);
	return &member->targets;
}

bool code_members_is_handle(const struct code_members *m, uint32_t index)
{
	return strcmp(m->texts + m->members[index].text.class_name, "java.lang.invoke.VarHandle") ==
	       0;
}

bool code_members_cut(const struct code_members *m)
{
	return m->cut;
}

void code_members_send(const struct code_members *m, Jxp__CodeImage *image)
{
	image->members = (ProtobufCBinaryData){m->list_count * sizeof(m->list[0]),
					       (uint8_t *)(uintptr_t)m->list};
	image->texts =
	    (ProtobufCBinaryData){m->image_text_bytes, (uint8_t *)(uintptr_t)m->image_texts};
}
