#include "attach/agent/method/references.h"

#include <string.h>

#include "attach/agent/method/bytecodes.h"
#include "common/code/java_op.h"

/* Some of the constant pool's tags (JVMS table 4.4-A). */
enum { TAG_FIELD = 9, TAG_METHOD, TAG_INTERFACE_METHOD, TAG_NAME_AND_TYPE };

/* The longest array of any kind; a longer one is nonsense. */
#define ARRAY_MAX 65536u

static bool read_at(const struct pool_reader *r, uint64_t address, void *to, size_t size)
{
	return page_read(r->pages, address, to, size);
}

static bool read_word(const struct pool_reader *r, uint64_t address, uint64_t *value)
{
	return read_at(r, address, value, sizeof(*value)) && *value != 0 && *value % 2 == 0;
}

/* ---------------------------------------------------------------- constant pool */

/* A slot that holds two numbers of 16 bits, when its tag is one of these. */
static bool pair_at(const struct pool_reader *r, uint64_t pool, uint16_t entry, uint8_t low_tag,
		    uint8_t high_tag, uint16_t pair[2])
{
	const struct pool_layout *l = &r->layout->pools;
	uint32_t length;
	uint64_t tags;
	uint8_t tag;

	return read_at(r, pool + r->layout->pool_length, &length, sizeof(length)) && entry > 0 &&
	       entry < length && read_word(r, pool + l->tags, &tags) &&
	       read_at(r, tags + l->bytes_data + entry, &tag, sizeof(tag)) && tag >= low_tag &&
	       tag <= high_tag &&
	       read_at(r, pool + r->layout->pool_bytes + entry * sizeof(uint64_t), pair,
		       2 * sizeof(pair[0]));
}

static bool symbol_at(const struct pool_reader *r, uint64_t pool, uint16_t entry, uint64_t *symbol)
{
	return entry > 0 &&
	       read_word(r, pool + r->layout->pool_bytes + entry * sizeof(*symbol), symbol);
}

/* A class's slot has its place among those that were resolved, and its name. Of its tags one is
 * Java's, the others say how far it is resolved. */
static bool class_at(const struct pool_reader *r, uint64_t pool, uint16_t entry,
		     struct member_look *out)
{
	const struct pool_layout *l = &r->layout->pools;
	uint64_t classes;
	uint16_t pair[2];
	uint32_t length;

	if (!pair_at(r, pool, entry, 1, UINT8_MAX, pair) ||
	    !symbol_at(r, pool, pair[1], &out->class_name))
		return false;
	out->klass = 0;
	if (!read_word(r, pool + l->classes, &classes) ||
	    !read_at(r, classes, &length, sizeof(length)) || pair[0] >= length ||
	    !read_word(r, classes + l->klasses_data + pair[0] * sizeof(uint64_t), &out->klass))
		out->klass = 0;
	return true;
}

bool reference_look(const struct pool_reader *r, uint64_t pool, uint16_t entry,
		    struct member_look *out)
{
	uint16_t member[2], named[2];
	struct member_look look;

	if (!pair_at(r, pool, entry, TAG_FIELD, TAG_INTERFACE_METHOD, member) ||
	    !pair_at(r, pool, member[1], TAG_NAME_AND_TYPE, TAG_NAME_AND_TYPE, named) ||
	    !symbol_at(r, pool, named[0], &look.name) ||
	    !symbol_at(r, pool, named[1], &look.descriptor) || !class_at(r, pool, member[0], &look))
		return false;
	*out = look;
	return true;
}

uint64_t reference_class_name(const struct pool_reader *r, uint64_t klass)
{
	uint64_t name;

	return read_word(r, klass + r->layout->class_name, &name) ? name : 0;
}

size_t reference_text(const struct pool_reader *r, uint64_t symbol, char *to, size_t max)
{
	uint16_t length;

	if (!read_at(r, symbol + r->layout->symbol_length, &length, sizeof(length)) ||
	    length == 0 || length >= max ||
	    !read_at(r, symbol + r->layout->symbol_body, to, length))
		return 0;
	to[length] = '\0';
	return length;
}

/* ---------------------------------------------------------------- operands */

struct reference_reading {
	const struct pool_reader *reader;
	uint64_t cache; /* 0: the class is not linked, or this JVM's cannot be told */
	struct reference *out;
	size_t max, count;
};

/* The list that an operand is a place in; false where it has none there. */
static bool find_resolved(const struct reference_reading *g, const struct resolved_layout *of,
			  uint16_t operand, uint64_t *at)
{
	const struct pool_layout *l = &g->reader->layout->pools;
	uint64_t list = g->cache;
	uint32_t length;

	if (l->split && !read_word(g->reader, g->cache + of->list, &list))
		return false;
	if (!read_at(g->reader, l->split ? list : list + l->cache_length, &length,
		     sizeof(length)) ||
	    operand >= length || length > ARRAY_MAX)
		return false;
	*at = list + of->data + (uint64_t)operand * of->bytes;
	return true;
}

/* Who uses it looks whether the method is called so. Of a virtual call all releases have either its
 * place in tables or the Method; those places are small numbers, of 16 bits from JDK 23 on. */
static void keep_resolved(const struct reference_reading *g, const struct resolved_layout *of,
			  uint64_t at, struct reference *ref)
{
	uint64_t word;

	ref->index = -1;
	if (!read_word(g->reader, at + of->klass, &ref->method))
		ref->method = 0;
	if (of->other == 0 || !read_at(g->reader, at + of->other, &word, sizeof(word)))
		return;
	if (g->reader->layout->pools.split)
		word &= UINT16_MAX;
	if (word <= UINT16_MAX)
		ref->index = (int32_t)word;
	else if (ref->op != JAVA_INVOKESTATIC && ref->op != JAVA_INVOKESPECIAL)
		ref->method = word; /* An interface's method stands beside the class. */
}

static void keep(void *arg, uint32_t bci, uint8_t op, uint16_t operand)
{
	struct reference_reading *g = arg;
	struct reference ref = {.bci = bci, .op = op, .index = -1};
	const struct resolved_layout *of = reference_is_call(op) ? &g->reader->layout->pools.methods
								 : &g->reader->layout->pools.fields;
	uint64_t at;

	if (!g->cache || g->count == g->max || !find_resolved(g, of, operand, &at) ||
	    !read_at(g->reader, at + of->entry, &ref.entry, sizeof(ref.entry)))
		return;
	if (reference_is_call(op))
		keep_resolved(g, of, at, &ref);
	else if (!read_word(g->reader, at + of->klass, &ref.klass))
		ref.klass = 0;
	g->out[g->count++] = ref;
}

/* The cache is the pool's if it says so, too. */
static uint64_t cache_of(const struct pool_reader *r, uint64_t pool)
{
	const struct pool_layout *l = &r->layout->pools;
	uint64_t cache, back;

	return l->known && read_word(r, pool + l->cache, &cache) &&
		       read_word(r, cache + l->cache_pool, &back) && back == pool
		   ? cache
		   : 0;
}

bool references_read(const struct pool_reader *r, const struct method_copy *copy, uint8_t *code,
		     struct reference *out, size_t max, size_t *count)
{
	const struct method_look *look = &copy->look;
	struct reference_reading g = {.reader = r, .out = out, .max = max};

	if (!r->layout->code_known || look->code_size == 0 ||
	    !read_at(r, look->const_method + r->layout->const_bytes, code, look->code_size))
		return false;
	g.cache = cache_of(r, look->constants);
	if (!bytecodes_restore_each(r->layout->java_op, code, look->code_size, keep, &g) ||
	    !method_is_still(r->layout, copy))
		return false;
	*count = g.count;
	return true;
}
