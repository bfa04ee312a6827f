#include "attach/agent/jvm/klass_fields.h"

#include <stdlib.h>
#include <string.h>

#include "attach/agent/code/page_reader.h"
#include "attach/agent/jvm/vmstructs.h"

/* What is longer is nonsense, or nobody's to read. */
#define NAME_BYTES_MAX   4096u
#define FIELDS_BYTES_MAX (1u << 20)

/* One of a field's access flags (JVMS table 4.5-A). */
#define ACCESS_STATIC 0x0008u

/* FieldInfo before JDK 21: six 16-bit numbers. The last two are the offset, shifted to make room
 * for a tag. */
#define SLOTS_OF_FIELD   6u
#define SLOT_ACCESS      0u
#define SLOT_NAME        1u
#define SLOT_SIGNATURE   2u
#define SLOT_OFFSET_LOW  4u
#define SLOT_OFFSET_HIGH 5u
#define OFFSET_TAG_BITS  2u

/* FieldInfo::FieldFlags since. */
#define FLAG_INITIALIZED 1u
#define FLAG_GENERIC     4u
#define FLAG_CONTENDED   16u
#define FLAGS_KNOWN      31u

/* UNSIGNED5: the codes of a byte, of which 0 is none, that end a number, and how much each further
 * byte adds. */
#define UNSIGNED5_LOW   191u
#define UNSIGNED5_SHIFT 6u
#define UNSIGNED5_BYTES 5u

/* Global because the JVM's structures are. */
static struct {
	bool known;
	uint64_t name, super;                     /* in Klass */
	uint64_t constants;                       /* in InstanceKlass, */
	uint64_t fields;                          /* likewise: array of 16-bit numbers, or */
	uint64_t field_count;                     /* how many of them are Java's, 16 bits */
	bool stream;                              /* fields is one of bytes */
	uint64_t pool_bytes, pool_length;         /* of ConstantPool, in it */
	uint64_t symbol_length, symbol_body;      /* in Symbol */
	uint64_t array_of_bytes, array_of_shorts; /* data in Array<u1>, Array<u2> */
} at;

/* A field of one class, as its list says. */
struct field_entry {
	uint32_t access;
	uint32_t name; /* in the constant pool, */
	uint32_t signature;
	uint32_t offset;
};

/* The list of a class's fields, copied. */
struct field_list {
	uint64_t pool;
	uint8_t *bytes; /* to be freed */
	size_t size, position;
	uint32_t left; /* fields of Java's; those that the JVM injects come after them */
};

bool klass_fields_init(void)
{
	at.stream = vmstructs_offset("InstanceKlass", "_fieldinfo_stream", &at.fields);
	at.known = vmstructs_offset("Klass", "_name", &at.name) &&
		   vmstructs_offset("Klass", "_super", &at.super) &&
		   vmstructs_offset("InstanceKlass", "_constants", &at.constants) &&
		   vmstructs_type_size("ConstantPool", &at.pool_bytes) &&
		   vmstructs_offset("ConstantPool", "_length", &at.pool_length) &&
		   vmstructs_offset("Symbol", "_length", &at.symbol_length) &&
		   vmstructs_offset("Symbol", "_body", &at.symbol_body) &&
		   vmstructs_offset("Array<u1>", "_data", &at.array_of_bytes) &&
		   vmstructs_offset("Array<u2>", "_data", &at.array_of_shorts);
	if (!at.stream)
		at.known = at.known && vmstructs_offset("InstanceKlass", "_fields", &at.fields) &&
			   vmstructs_offset("InstanceKlass", "_java_fields_count", &at.field_count);
	return at.known;
}

/* Only the one thread that names things uses it. */
static struct page_reader reader;

void klass_fields_look_anew(void)
{
	page_reader_forget(&reader);
}

static bool read_at(uint64_t address, void *to, size_t size)
{
	return page_read(&reader, address, to, size);
}

static bool read_word(uint64_t address, uint64_t *value)
{
	return read_at(address, value, sizeof(*value)) && *value != 0;
}

/* The text of a Symbol, to be freed; NULL when it cannot be read. */
static char *symbol_text(uint64_t symbol)
{
	uint16_t length;
	char *text;

	if (!read_at(symbol + at.symbol_length, &length, sizeof(length)) || length == 0 ||
	    length > NAME_BYTES_MAX)
		return NULL;
	text = malloc(length + 1u);
	if (!text || !read_at(symbol + at.symbol_body, text, length)) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

char *klass_symbol(uint64_t klass)
{
	uint64_t symbol;

	return at.known && read_word(klass + at.name, &symbol) ? symbol_text(symbol) : NULL;
}

uint64_t klass_super(uint64_t klass)
{
	uint64_t super;

	return at.known && read_word(klass + at.super, &super) ? super : 0;
}

/* The text that the constant pool has at index. */
static char *pool_text(uint64_t pool, uint32_t index)
{
	uint64_t symbol;
	int32_t length;

	if (!read_at(pool + at.pool_length, &length, sizeof(length)) || length <= 0 || index == 0 ||
	    index >= (uint32_t)length ||
	    !read_word(pool + at.pool_bytes + (uint64_t)index * sizeof(symbol), &symbol))
		return NULL;
	return symbol_text(symbol);
}

/* The next number of a stream of compressed ones. */
static bool next_number(struct field_list *l, uint32_t *value)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < UNSIGNED5_BYTES && l->position < l->size; i++) {
		uint8_t byte = l->bytes[l->position++];

		if (byte == 0)
			return false;
		sum += ((uint32_t)byte - 1) << (i * UNSIGNED5_SHIFT);
		if (byte <= UNSIGNED5_LOW || i == UNSIGNED5_BYTES - 1) {
			*value = sum;
			return true;
		}
	}
	return false;
}

static bool next_of_stream(struct field_list *l, struct field_entry *e)
{
	uint32_t flags, ignored;
	unsigned more;

	if (!next_number(l, &e->name) || !next_number(l, &e->signature) ||
	    !next_number(l, &e->offset) || !next_number(l, &e->access) || !next_number(l, &flags) ||
	    flags & ~FLAGS_KNOWN)
		return false;
	more = (unsigned)__builtin_popcount(flags &
					    (FLAG_INITIALIZED | FLAG_GENERIC | FLAG_CONTENDED));
	while (more-- > 0)
		if (!next_number(l, &ignored))
			return false;
	return true;
}

static bool next_of_array(struct field_list *l, struct field_entry *e)
{
	uint16_t slots[SLOTS_OF_FIELD];

	if (l->size - l->position < sizeof(slots))
		return false;
	memcpy(slots, l->bytes + l->position, sizeof(slots));
	l->position += sizeof(slots);
	*e = (struct field_entry){
	    .access = slots[SLOT_ACCESS],
	    .name = slots[SLOT_NAME],
	    .signature = slots[SLOT_SIGNATURE],
	    .offset = ((uint32_t)slots[SLOT_OFFSET_HIGH] << 16 | slots[SLOT_OFFSET_LOW]) >>
		      OFFSET_TAG_BITS,
	};
	return true;
}

static bool next_field(struct field_list *l, struct field_entry *e)
{
	if (l->left == 0)
		return false;
	l->left--;
	return at.stream ? next_of_stream(l, e) : next_of_array(l, e);
}

/* Copies an Array of elements of this size. */
static bool copy_array(uint64_t array, uint64_t data, size_t element, struct field_list *l)
{
	int32_t length;

	if (!read_at(array, &length, sizeof(length)) || length <= 0 ||
	    (uint64_t)length * element > FIELDS_BYTES_MAX)
		return false;
	l->size = (size_t)length * element;
	l->bytes = malloc(l->size);
	return l->bytes && read_at(array + data, l->bytes, l->size);
}

static bool count_fields(uint64_t klass, struct field_list *l)
{
	uint32_t injected;
	uint16_t count;

	if (at.stream)
		return next_number(l, &l->left) && next_number(l, &injected);
	if (!read_at(klass + at.field_count, &count, sizeof(count)))
		return false;
	l->left = count;
	return true;
}

static bool list_open(uint64_t klass, struct field_list *l)
{
	uint64_t array;

	*l = (struct field_list){0};
	if (!at.known || !read_word(klass + at.constants, &l->pool) ||
	    !read_word(klass + at.fields, &array))
		return false;
	if (at.stream ? copy_array(array, at.array_of_bytes, 1, l)
		      : copy_array(array, at.array_of_shorts, 2, l))
		return count_fields(klass, l);
	return false;
}

/* How many bytes a field of this type takes; 0: no type. */
static unsigned type_bytes(char first, unsigned reference_bytes)
{
	switch (first) {
	case 'Z':
	case 'B':
		return 1;
	case 'C':
	case 'S':
		return 2;
	case 'I':
	case 'F':
		return 4;
	case 'J':
	case 'D':
		return 8;
	case 'L':
	case '[':
		return reference_bytes;
	default:
		return 0;
	}
}

/* Names an entry whose field may be the one that lies at offset, if it is. */
static bool name_entry(uint64_t pool, const struct field_entry *e, uint32_t offset,
		       unsigned reference_bytes, struct klass_field *out)
{
	struct klass_field f = {.offset = e->offset, .signature = pool_text(pool, e->signature)};

	f.bytes = f.signature ? type_bytes(f.signature[0], reference_bytes) : 0;
	if (offset - e->offset < f.bytes)
		f.name = pool_text(pool, e->name);
	if (!f.name) {
		klass_field_release(&f);
		return false;
	}
	*out = f;
	return true;
}

bool klass_field_at(uint64_t klass, uint32_t offset, bool is_static, unsigned reference_bytes,
		    struct klass_field *out)
{
	struct field_list l;
	struct field_entry e;
	bool found = false;

	if (list_open(klass, &l))
		while (!found && next_field(&l, &e))
			/* The longest types have 8 bytes. */
			found = !(e.access & ACCESS_STATIC) == !is_static && e.offset <= offset &&
				offset - e.offset < sizeof(uint64_t) &&
				name_entry(l.pool, &e, offset, reference_bytes, out);
	free(l.bytes);
	return found;
}

void klass_field_release(struct klass_field *f)
{
	free(f->name);
	free(f->signature);
	*f = (struct klass_field){0};
}
