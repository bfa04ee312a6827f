/*
 * What the JVM calls its methods beside what is read from its memory (attach/agent/method/): the
 * native half of the program MethodNames, of the very objects that go into our agent. JVMTI is the
 * judge. Prints one line of counts, and the first methods that differ.
 */
#include <ctype.h>
#include <jvmti.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/java_name.h"
#include "attach/agent/jvm/method_facts.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/method/bytecodes.h"
#include "attach/agent/method/line_table.h"
#include "attach/agent/method/method_table.h"
#include "attach/agent/method/references.h"
#include "attach/agent/method/targets.h"
#include "common/code/java_op.h"

#define SHOWN_MAX      20u
#define NEIGHBOURS_MAX 400000u
#define COPY_MAX       (4 * METHOD_TEXT_MAX + METHOD_LINES_MAX + 4096u)

static struct {
	unsigned classes;
	unsigned methods;
	unsigned natives;
	unsigned hidden;   /* of hidden classes */
	unsigned numbered; /* by JDK 11: JVMTI adds a hash to the class's name */
	unsigned lines;
	unsigned bytecodes;
	unsigned fields;   /* that bytecodes name */
	unsigned declared; /* ... whose class is known */
	unsigned calls;    /* likewise methods */
	unsigned asked;    /* of these, where they may lead, */
	unsigned led;      /* and they do lead somewhere */
	unsigned own;      /* calls of what the JVM has code of its own for, */
	unsigned handles;  /* and of variable handles, with the method that does the work */
	unsigned missing;
	unsigned different;
} tally;

static jvmtiEnv *jvmti;
static unsigned release;
static struct method_layout layout;
static uint64_t copy_space[COPY_MAX / 8];
static struct method_copy *const copy = (struct method_copy *)copy_space;

struct pair {
	uint64_t id;
	uint64_t method;
};
/* A class of objects, or an interface; methods: once they were asked for. */
struct klass {
	uint64_t address;
	uint64_t super;
	struct named {
		uint64_t method, name, descriptor;
	} * methods;
	size_t method_count;
};
static struct klass *klasses; /* by address, once all are found */
static size_t klass_count, klass_capacity;
static struct pair *pairs;
static size_t pair_count, pair_capacity;

static void fail(const char *what)
{
	printf("cannot check: %s\n", what);
	(void)fflush(stdout);
	abort();
}

static void check(jvmtiError error, const char *what)
{
	if (error != JVMTI_ERROR_NONE)
		fail(what);
}

static void differs(const char *what, const char *ours, const char *theirs)
{
	if (tally.different++ < SHOWN_MAX)
		printf("%s of %s %s: %s, by JVMTI %s\n", what, method_copy_text(copy, METHOD_CLASS),
		       method_copy_text(copy, METHOD_NAME), ours ? ours : "none",
		       theirs ? theirs : "none");
}

static uint64_t read_word(uint64_t address)
{
	uint64_t word;

	return safe_read(address, &word, sizeof(word)) ? word : 0;
}

static uint64_t offset_of(const char *type, const char *field)
{
	uint64_t offset;

	if (!vmstructs_offset(type, field, &offset))
		fail(field);
	return offset;
}

/* ---------------------------------------------------------------- which Method an id stands for */

static void add_pair(uint64_t id, uint64_t method)
{
	if (pair_count == pair_capacity) {
		pair_capacity = pair_capacity * 2 + 4096;
		pairs = realloc(pairs, pair_capacity * sizeof(*pairs));
		if (!pairs)
			fail("memory");
	}
	pairs[pair_count++] = (struct pair){id, method};
}

static void keep_klass(uint64_t klass)
{
	if (klass_count == klass_capacity) {
		klass_capacity = klass_capacity * 2 + 4096;
		klasses = realloc(klasses, klass_capacity * sizeof(*klasses));
		if (!klasses)
			fail("memory");
	}
	klasses[klass_count++] = (struct klass){
	    .address = klass, .super = read_word(klass + offset_of("Klass", "_super"))};
}

static void add_klass(uint64_t klass)
{
	uint64_t methods = read_word(klass + offset_of("InstanceKlass", "_methods"));
	uint64_t ids = read_word(klass + offset_of("InstanceKlass", "_methods_jmethod_ids"));
	uint64_t data = offset_of("Array<Method*>", "_data"), count;
	uint64_t number_at = offset_of("ConstMethod", "_method_idnum");
	int32_t length;

	keep_klass(klass);
	if (!methods || !ids || !safe_read(methods, &length, sizeof(length)))
		return;
	count = read_word(ids);
	for (int32_t i = 0; i < length; i++) {
		uint64_t method = read_word(methods + data + (uint64_t)i * 8);
		uint64_t const_method = read_word(method + layout.method_const);
		uint64_t id;
		uint16_t number;

		if (safe_read(const_method + number_at, &number, sizeof(number)) &&
		    number < count && (id = read_word(ids + (number + 1u) * 8)))
			add_pair(id, method);
	}
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct klass *)a)->address, y = ((const struct klass *)b)->address;

	return (x > y) - (x < y);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct pair *)a)->id, y = ((const struct pair *)b)->id;

	return (x > y) - (x < y);
}

/* By the JVM's own lists, when all methods have ids. */
static void find_pairs(void)
{
	uint64_t next_data = offset_of("ClassLoaderData", "_next");
	uint64_t first = offset_of("ClassLoaderData", "_klasses");
	uint64_t next = offset_of("Klass", "_next_link");
	uint64_t helper = offset_of("Klass", "_layout_helper");
	uint64_t data;

	if (!vmstructs_static_word("ClassLoaderDataGraph", "_head", &data))
		fail("_head");
	for (size_t i = 0; i < klass_count; i++)
		free(klasses[i].methods);
	pair_count = klass_count = 0;
	for (; data; data = read_word(data + next_data))
		for (uint64_t k = read_word(data + first); k; k = read_word(k + next)) {
			int32_t is_instance;

			if (safe_read(k + helper, &is_instance, sizeof(is_instance)) &&
			    is_instance > 0)
				add_klass(k);
		}
	qsort(pairs, pair_count, sizeof(*pairs), by_id);
	qsort(klasses, klass_count, sizeof(*klasses), by_address);
}

/* NULL of one that came since. */
static struct klass *klass_at(uint64_t address)
{
	const struct klass key = {.address = address};

	return bsearch(&key, klasses, klass_count, sizeof(*klasses), by_address);
}

static uint64_t super_of(uint64_t klass)
{
	const struct klass *known = klass_at(klass);

	return known ? known->super : read_word(klass + offset_of("Klass", "_super"));
}

static uint64_t method_of(jmethodID id)
{
	struct pair key = {.id = (uintptr_t)id}, *found;

	found = bsearch(&key, pairs, pair_count, sizeof(*pairs), by_id);
	return found ? found->method : 0;
}

/* ---------------------------------------------------------------- one method */

static void compare_text(const char *what, const char *ours, const char *theirs)
{
	if (!ours != !theirs || (ours && strcmp(ours, theirs) != 0))
		differs(what, ours, theirs);
}

/* JDK 11 numbers classes without a name of their own by a hash, which their names do not have. */
static bool is_numbered(const char *ours, const char *theirs)
{
	size_t length = strlen(ours);

	return release < 15 && strncmp(ours, theirs, length) == 0 && theirs[length] == '.' &&
	       strspn(theirs + length + 1, "0123456789") == strlen(theirs + length + 1);
}

static void compare_class(const char *signature)
{
	char *theirs = java_name_of(signature);
	char *ours = java_name_of_symbol(method_copy_text(copy, METHOD_CLASS));

	if (!ours || !theirs)
		fail("memory");
	if (is_numbered(ours, theirs))
		tally.numbered++;
	else
		compare_text("class", ours, theirs);
	tally.hidden += strstr(method_copy_text(copy, METHOD_CLASS), "+0x") != NULL;
	free(ours);
	free(theirs);
}

static void compare_lines(jmethodID id)
{
	struct line_table t =
	    line_table_of(method_copy_lines(copy), copy->look.lines_size, layout.byte_base);
	jvmtiLineNumberEntry *lines = NULL;
	jint count = 0;
	char text[64];

	if ((*jvmti)->GetLineNumberTable(jvmti, id, &count, &lines) != JVMTI_ERROR_NONE)
		count = 0;
	for (jint i = 0; i < count; i++) {
		if (!line_table_next(&t) || t.bci != (int32_t)lines[i].start_location ||
		    t.line != lines[i].line_number) {
			(void)snprintf(text, sizeof(text), "%d at %d", (int)lines[i].line_number,
				       (int)lines[i].start_location);
			differs("line", "another", text);
			break;
		}
		tally.lines++;
	}
	if (line_table_next(&t))
		differs("lines", "more", "fewer");
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)lines);
}

/* ---------------------------------------------------------------- what bytecodes name */

/* The constant pool of the class at hand, as its class file has it. */
static struct {
	unsigned char *bytes;
	jint count;
	uint32_t at[UINT16_MAX + 1u];
} pool;

static unsigned u2_at(const unsigned char *p)
{
	return (unsigned)(p[0] << 8 | p[1]);
}

/* Bytes of an entry of JVMS 4.4. */
static uint32_t entry_bytes(const unsigned char *p)
{
	static const uint8_t bytes[21] = {0, 0, 0, 5, 5, 9, 9, 3, 3, 5, 5,
					  5, 5, 0, 0, 4, 3, 5, 5, 3, 3};

	return p[0] == 1 ? 3 + u2_at(p + 1) : p[0] < sizeof(bytes) ? bytes[p[0]] : 0;
}

static void read_pool(jclass class)
{
	jint bytes, at = 0;

	(void)(*jvmti)->Deallocate(jvmti, pool.bytes);
	pool.bytes = NULL;
	pool.count = 0;
	if ((*jvmti)->GetConstantPool(jvmti, class, &pool.count, &bytes, &pool.bytes) !=
	    JVMTI_ERROR_NONE)
		return;
	for (jint i = 1; i < pool.count && at < bytes; i++) {
		uint32_t size = entry_bytes(pool.bytes + at);

		if (size == 0)
			fail("a constant pool of JVMTI's");
		pool.at[i] = (uint32_t)at;
		at += (jint)size;
		if (pool.bytes[at - (jint)size] == 5 || pool.bytes[at - (jint)size] == 6)
			i++; /* long and double take two places. */
	}
}

static bool is_utf8(unsigned entry, uint64_t symbol)
{
	struct page_reader pages = {0};
	const struct pool_reader reader = {&layout, &pages};
	const unsigned char *p = pool.bytes + pool.at[entry];
	static char text[UINT16_MAX + 1u];
	size_t length = reference_text(&reader, symbol, text, sizeof(text));

	return p[0] == 1 && length == u2_at(p + 1) && memcmp(p + 3, text, length) == 0;
}

/* By the operand of JVMTI's bytecodes, which are the class file's. */
static bool names_same(const struct member_look *ours, unsigned entry)
{
	const unsigned char *member = pool.bytes + pool.at[entry];
	const unsigned char *class = pool.bytes + pool.at[u2_at(member + 1)];
	const unsigned char *named = pool.bytes + pool.at[u2_at(member + 3)];

	return is_utf8(u2_at(class + 1), ours->class_name) &&
	       is_utf8(u2_at(named + 1), ours->name) && is_utf8(u2_at(named + 3), ours->descriptor);
}

/* ---------------------------------------------------------------- where calls lead */

/* Most that are asked about: each is held against all classes. */
#define ASKED_MAX    2000u
#define ASKED_EACH   31u
#define EXPECTED_MAX 64u

/* As many subclasses as are looked at, and more. */
#define FEW_CLASSES 8u
#define FEWER_MAX   10u

#define TEXT_BYTES 256u

static struct page_set part_sets[256];

static void read_methods(struct klass *klass)
{
	uint64_t methods = read_word(klass->address + offset_of("InstanceKlass", "_methods"));
	uint64_t data = offset_of("Array<Method*>", "_data");
	int32_t length;

	if (!methods || !safe_read(methods, &length, sizeof(length)))
		length = 0;
	klass->methods = calloc((size_t)length + 1, sizeof(*klass->methods));
	if (!klass->methods)
		fail("memory");
	for (int32_t i = 0; i < length; i++) {
		uint64_t method = read_word(methods + data + (uint64_t)i * 8);
		struct method_look look;

		if (method_look(&layout, method, &look))
			klass->methods[klass->method_count++] = (struct named){
			    method, look.symbols[METHOD_NAME], look.symbols[METHOD_DESCRIPTOR]};
	}
}

/* The method of that name which a class has, or inherits: all are looked at, one after the other.
 */
static uint64_t find_by_name(const struct member_look *member, uint64_t address)
{
	for (; address; address = super_of(address)) {
		struct klass *klass = klass_at(address);

		if (!klass)
			continue;
		if (!klass->methods)
			read_methods(klass);
		for (size_t i = 0; i < klass->method_count; i++)
			if (klass->methods[i].name == member->name &&
			    klass->methods[i].descriptor == member->descriptor)
				return klass->methods[i].method;
	}
	return 0;
}

static bool inherits(uint64_t klass, uint64_t super)
{
	while (klass && klass != super)
		klass = super_of(klass);
	return klass != 0;
}

/* One that is not has no objects, and a table of virtual methods only if it is archived. */
static bool is_linked(uint64_t klass)
{
	int32_t linked;
	uint8_t state;

	return vmstructs_int_constant("InstanceKlass::linked", &linked) &&
	       safe_read(klass + offset_of("InstanceKlass", "_init_state"), &state, 1) &&
	       state >= linked;
}

static bool is_in_list(uint64_t method, const uint64_t *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i] == method)
			return true;
	return false;
}

/* What stands in the place of a method in all subclasses, or all that are linked; *classes: how
 * many these are. */
static unsigned expect(const struct member_look *member, uint64_t named, bool overridable,
		       bool linked, uint64_t out[EXPECTED_MAX], unsigned *classes)
{
	unsigned count = 0;

	*classes = 1;
	out[count++] = named;
	for (size_t i = 0; overridable && i < klass_count && count < EXPECTED_MAX; i++) {
		uint64_t method;

		if (klasses[i].address == member->klass ||
		    !inherits(klasses[i].address, member->klass) ||
		    (linked && !is_linked(klasses[i].address)))
			continue;
		++*classes;
		method = find_by_name(member, klasses[i].address);
		if (!is_in_list(method, out, count))
			out[count++] = method;
	}
	return count;
}

static bool may_be_inlined(uint64_t method)
{
	struct method_look look;

	return method_look(&layout, method, &look) && !(look.flags & 0x500) && look.code_size > 0 &&
	       look.code_size <= TARGET_CODE_MAX;
}

static bool is_abstract(uint64_t method)
{
	struct method_look look;

	return method_look(&layout, method, &look) && look.flags & 0x400;
}

/* Nothing beside what is expected, and, where there are few classes, all of it. */
static void compare_targets(const struct reference *call, const struct member_look *member)
{
	struct page_reader pages = {.sets = part_sets, .set_count = 256};
	const struct pool_reader reader = {&layout, &pages};
	uint64_t named = find_by_name(member, member->klass), out[TARGETS_MAX];
	uint64_t expected[EXPECTED_MAX];
	static unsigned fewer;
	unsigned classes, all, concrete = 0, inlined = 0, count;
	bool overridable, selected;
	struct method_look look;

	/* One that its package alone may override has another method of its name elsewhere. */
	if (!named || !method_look(&layout, named, &look) || !(look.flags & 7))
		return;
	overridable = call->op == JAVA_INVOKEVIRTUAL && !(look.flags & 0x12);
	all = expect(member, named, overridable, true, expected, &classes);
	for (unsigned i = 0; i < all; i++) {
		concrete += !is_abstract(expected[i]);
		inlined += may_be_inlined(expected[i]);
	}
	page_reader_forget(&pages);
	count = targets_of(&reader, member, call, NULL, 0, out, &selected);
	tally.asked++;
	tally.led += count > 0;
	all = expect(member, named, overridable, false, expected, &(unsigned){0});
	for (unsigned i = 0; i < count; i++)
		if (!is_in_list(out[i], expected, all) || !may_be_inlined(out[i]))
			differs("target", "another", "none");
	/* Of a few, whose classes come while this looks on, or whose names the JVM makes up,
	 * none. */
	fewer += count != inlined && classes <= FEW_CLASSES && concrete <= TARGETS_MAX;
	if (fewer > FEWER_MAX)
		differs("targets", "fewer", "more");
}

static bool begins(const struct pool_reader *reader, uint64_t symbol, const char *begin)
{
	char text[TEXT_BYTES];

	return reference_text(reader, symbol, text, sizeof(text)) > 0 &&
	       strncmp(text, begin, strlen(begin)) == 0;
}

static bool is_text(const struct pool_reader *reader, uint64_t symbol, const char *whole)
{
	char text[TEXT_BYTES];

	return reference_text(reader, symbol, text, sizeof(text)) > 0 && strcmp(text, whole) == 0;
}

static bool is_library(const struct pool_reader *reader, uint64_t symbol)
{
	return begins(reader, symbol, "java/") || begins(reader, symbol, "jdk/") ||
	       begins(reader, symbol, "sun/") || begins(reader, symbol, "com/sun/");
}

/* The JVM has code of its own for methods of the library alone, and for which of these nobody asks
 * JVMTI: some are known. */
static void compare_own_code(const struct pool_reader *reader, const struct reference *call,
			     const struct member_look *member)
{
	static const struct {
		const char *class_name, *name;
		bool own;
	} known[] = {
	    {"java/lang/System", "arraycopy", true}, {"java/lang/Object", "getClass", true},
	    {"java/lang/Math", "sqrt", true},        {"java/lang/System", "getProperty", false},
	    {"java/util/List", "add", false},        {"java/util/Objects", "requireNonNull", false},
	    {"java/lang/Object", "equals", false}};
	uint64_t declares = 0;
	bool own = targets_own_code(reader, member, call, &declares);

	tally.own += declares != 0;
	if (declares && !is_library(reader, reference_class_name(reader, declares)))
		differs("code of its own", "there", "not of the library");
	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (call->method && own != known[i].own &&
		    is_text(reader, member->class_name, known[i].class_name) &&
		    is_text(reader, member->name, known[i].name) &&
		    method_is(&layout, call->method, known[i].class_name, known[i].name))
			differs("code of its own", own ? "there" : "none", known[i].name);
}

/* What a variable handle's call was linked to, and what does the work, which is called the same. */
static void compare_handle(const struct pool_reader *reader, const struct reference *call,
			   const struct member_look *member)
{
	uint64_t out[TARGETS_MAX];
	unsigned count =
	    call->method ? targets_of(reader, member, call, NULL, 0, out, &(bool){false}) : 0;
	struct method_look look;

	for (unsigned i = 0; i < count; i++) {
		if (!method_look(&layout, out[i], &look) ||
		    !begins(reader, look.symbols[METHOD_CLASS], "java/lang/invoke/"))
			differs("target of a handle", "another", "java.lang.invoke's");
		else
			tally.handles += look.symbols[METHOD_NAME] == member->name;
	}
}

static void ask_now_and_then(const struct reference *call, const struct member_look *member)
{
	static unsigned met;

	if (tally.asked < ASKED_MAX && member->klass && call->op != JAVA_INVOKEINTERFACE &&
	    met++ % ASKED_EACH == 0)
		compare_targets(call, member);
}

/* The class that declares a field is the one that the constant pool names, one that this extends,
 * or an interface. */
static void compare_declaring(const struct reference *field, const struct member_look *member)
{
	uint64_t check_at = offset_of("Klass", "_super_check_offset");
	uint64_t cache_at = offset_of("Klass", "_secondary_super_cache");
	uint32_t check = 0;

	tally.declared++;
	(void)safe_read(field->klass + check_at, &check, sizeof(check));
	if (!member->klass || (!inherits(member->klass, field->klass) && check != cache_at))
		differs("class of a field", "another", "there");
}

static const unsigned char *theirs_raw;

static void compare_reference(const struct pool_reader *reader, const struct reference *ref)
{
	unsigned entry = u2_at(theirs_raw + ref->bci + 1);
	struct member_look look;
	char text[64];

	if (reference_is_call(ref->op))
		tally.calls++;
	else
		tally.fields++;
	if (!reference_look(reader, copy->look.constants, ref->entry, &look)) {
		differs("reference", "not read", "there");
	} else if (!names_same(&look, entry)) {
		(void)snprintf(text, sizeof(text), "entry %u at %u", entry, ref->bci);
		differs("reference", "another", text);
	} else if (reference_is_call(ref->op)) {
		compare_own_code(reader, ref, &look);
		if (is_text(reader, look.class_name, "java/lang/invoke/VarHandle"))
			compare_handle(reader, ref, &look);
		else
			ask_now_and_then(ref, &look);
	} else if (ref->klass) {
		compare_declaring(ref, &look);
	}
}

/* Each bytecode that names a field or a method is told of, once. */
static void compare_references(const struct reference *refs, size_t count, uint32_t size)
{
	struct page_reader pages = {0};
	const struct pool_reader reader = {&layout, &pages};
	size_t told = 0;

	for (uint32_t bci = 0, length; bci < size; bci += length) {
		uint8_t op = theirs_raw[bci];

		length = java_op_length(theirs_raw, size, bci);
		if (length == 0)
			fail("bytecodes of JVMTI's");
		if (op < JAVA_GETSTATIC || op > JAVA_INVOKEINTERFACE)
			continue;
		if (told == count || refs[told].bci != bci || refs[told].op != op)
			differs("reference", "none", "there");
		else
			compare_reference(&reader, &refs[told++]);
	}
	if (told != count)
		differs("references", "more", "fewer");
}

/* With the operands that are the JVM's own left out in both. */
static void compare_bytecodes(jmethodID id)
{
	static uint8_t ours[UINT16_MAX], java_op[256];
	static struct reference refs[UINT16_MAX];
	struct page_reader pages = {0};
	const struct pool_reader reader = {&layout, &pages};
	unsigned char *theirs = NULL;
	size_t named = 0;
	jint count = 0;
	bool read = references_read(&reader, copy, ours, refs, UINT16_MAX, &named);

	for (unsigned op = 0; op < 256; op++)
		java_op[op] = op < 0xca ? (uint8_t)op : METHOD_OP_UNKNOWN;
	if ((*jvmti)->GetBytecodes(jvmti, id, &count, &theirs) != JVMTI_ERROR_NONE)
		count = 0;
	theirs_raw = theirs;
	if (count > 0 && read && count == copy->look.code_size)
		compare_references(refs, named, (uint32_t)count);
	if (count > 0 && !bytecodes_restore(java_op, theirs, (uint32_t)count))
		fail("bytecodes of JVMTI's");
	if (count != copy->look.code_size || read != (count > 0) ||
	    (count > 0 && memcmp(ours, theirs, (size_t)count) != 0))
		differs("bytecodes", read ? "others" : "none", "others");
	tally.bytecodes += (unsigned)count;
	(void)(*jvmti)->Deallocate(jvmti, theirs);
}

static void compare_method(jmethodID id, const char *signature, const char *file)
{
	jboolean native;
	jint flags;
	char *name, *descriptor;

	check((*jvmti)->GetMethodName(jvmti, id, &name, &descriptor, NULL), "GetMethodName");
	check((*jvmti)->IsMethodNative(jvmti, id, &native), "IsMethodNative");
	check((*jvmti)->GetMethodModifiers(jvmti, id, &flags), "GetMethodModifiers");
	compare_class(signature);
	compare_text("name", method_copy_text(copy, METHOD_NAME), name);
	compare_text("descriptor", method_copy_text(copy, METHOD_DESCRIPTOR), descriptor);
	compare_text("file", method_copy_text(copy, METHOD_FILE), file);
	if (method_copy_is_native(copy) != native || (copy->look.flags & 0xfff) != (flags & 0xfff))
		differs("flags", "others", "others");
	compare_lines(id);
	compare_bytecodes(id);
	tally.natives += native;
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)name);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
}

static bool copy_method(uint64_t method)
{
	struct method_look look;

	return method_look(&layout, method, &look) && method_copy_bytes(&look) <= COPY_MAX &&
	       method_copy(&layout, &look, copy);
}

/* ---------------------------------------------------------------- how long it takes */

static uint32_t sizes[METHODS_MAX], times[METHODS_MAX], again[METHODS_MAX];
static unsigned measured;

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t bytes_of(const struct method_copy *c)
{
	return (uint32_t)(method_copy_lines(c) + c->look.lines_size - (const uint8_t *)c + 7) & ~7u;
}

/* Once it is full it stays so. */
#define FULL_ENOUGH 1000u

/* The second meeting gives the same number. */
static void measure(uint64_t method)
{
	struct method_table *t = method_table();
	uint64_t before = now(), between, after;
	uint32_t number, second;

	if (t->full >= FULL_ENOUGH)
		return;
	number = method_number(t, &layout, method, 0);
	between = now();
	second = method_number(t, &layout, method, 1);
	after = now();
	if (number != second || (number && (method_of_number(t, number)->look.method != method ||
					    method_number(t, &layout, method, 1) != number)))
		differs("number", "of another method, or another at the second meeting", NULL);
	if (!number)
		return;
	sizes[measured] = bytes_of(method_of_number(t, number));
	times[measured] = (uint32_t)(between - before);
	again[measured++] = (uint32_t)(after - between);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint32_t share(uint32_t *values, unsigned percent)
{
	qsort(values, measured, sizeof(*values), by_value);
	return measured ? values[(measured - 1) * (size_t)percent / 100] : 0;
}

/* ---------------------------------------------------------------- all of them */

static void each_class(JNIEnv *jni, void (*visit)(jclass class))
{
	jclass *classes;
	jint count;

	check((*jvmti)->GetLoadedClasses(jvmti, &count, &classes), "GetLoadedClasses");
	for (jint i = 0; i < count; i++) {
		visit(classes[i]);
		(*jni)->DeleteLocalRef(jni, classes[i]);
	}
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
}

static void make_ids(jclass class)
{
	jmethodID *ids;
	jint count;

	if ((*jvmti)->GetClassMethods(jvmti, class, &count, &ids) == JVMTI_ERROR_NONE)
		(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
}

static void compare_class_methods(jclass class)
{
	char *signature, *file = NULL;
	jmethodID *ids;
	jint count;

	if ((*jvmti)->GetClassMethods(jvmti, class, &count, &ids) != JVMTI_ERROR_NONE)
		return;
	check((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL), "GetClassSignature");
	if ((*jvmti)->GetSourceFileName(jvmti, class, &file) != JVMTI_ERROR_NONE)
		file = NULL;
	tally.classes++;
	read_pool(class);
	for (jint i = 0; i < count; i++) {
		uint64_t method = method_of(ids[i]);

		tally.methods++;
		if (!method || !copy_method(method)) {
			if (tally.missing++ < SHOWN_MAX)
				printf("missing: a method of %s, %s\n", signature,
				       method ? "not copied" : "not found");
			continue;
		}
		compare_method(ids[i], signature, file);
		measure(method);
	}
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)file);
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
}

static void prepare(JNIEnv *jni)
{
	const jvmtiCapabilities wanted = {.can_get_bytecodes = 1,
					  .can_get_constant_pool = 1,
					  .can_get_line_numbers = 1,
					  .can_get_source_file_name = 1,
					  .can_redefine_classes = 1};
	const char *missing;
	char *version;
	JavaVM *vm;

	if (jvmti)
		return;
	if ((*jni)->GetJavaVM(jni, &vm) != JNI_OK ||
	    (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK)
		fail("no JVMTI");
	check((*jvmti)->AddCapabilities(jvmti, &wanted), "AddCapabilities");
	check((*jvmti)->GetSystemProperty(jvmti, "java.vm.specification.version", &version),
	      "GetSystemProperty");
	release = (unsigned)strtoul(version, NULL, 10);
	if (safe_read_init() < 0 || method_table_init() < 0)
		fail("memory");
	missing = method_facts_read(release, &layout);
	if (!missing)
		missing = method_facts_check(&layout);
	if (missing)
		fail(missing);
}

/* A layout in which anything lies elsewhere is noticed before it is used. */
static void check_wrong_layouts(void)
{
	const struct {
		const char *name;
		uint32_t *offset;
		int by;
	} parts[] = {
	    {"method_const", &layout.method_const, 8},
	    {"method_flags", &layout.method_flags, 2},
	    {"const_bytes", &layout.const_bytes, 8},
	    {"const_constants", &layout.const_constants, 8},
	    {"const_flags", &layout.const_flags, 2},
	    {"const_code_size", &layout.const_code_size, 2},
	    {"const_name", &layout.const_name, 2},
	    {"const_signature", &layout.const_signature, 2},
	    {"pool_bytes", &layout.pool_bytes, 8},
	    {"pool_holder", &layout.pool_holder, 8},
	    {"pool_file", layout.file_in_class ? NULL : &layout.pool_file, 2},
	    {"class_name", &layout.class_name, 8},
	    {"class_constants", layout.file_in_class ? &layout.class_constants : NULL, 8},
	    {"class_file", layout.file_in_class ? &layout.class_file : NULL, 2},
	    {"symbol_length", &layout.symbol_length, 2},
	    {"symbol_body", &layout.symbol_body, 1},
	};
	unsigned noticed = 0, tried = 0;

	for (unsigned i = 0; i < 2 * sizeof(parts) / sizeof(parts[0]); i++) {
		uint32_t by = (uint32_t)(i & 1 ? parts[i / 2].by : -parts[i / 2].by);
		const char *wrong;

		if (!parts[i / 2].offset || *parts[i / 2].offset + by > 4096)
			continue;
		*parts[i / 2].offset += by;
		wrong = method_facts_check(&layout);
		*parts[i / 2].offset -= by;
		tried++;
		noticed += wrong != NULL;
		if (!wrong)
			printf("not noticed: %s %d\n", parts[i / 2].name, (int)by);
	}
	printf("layouts: %u wrong, %u noticed\n", tried, noticed);
}

/* Of a class that is there, by the name of a method that it has one of. */
static uint64_t find_method(JNIEnv *jni, jclass class, const char *name)
{
	jmethodID *ids;
	uint64_t found = 0;
	jint count;

	each_class(jni, make_ids);
	find_pairs();
	check((*jvmti)->GetClassMethods(jvmti, class, &count, &ids), "GetClassMethods");
	for (jint i = 0; i < count; i++) {
		uint64_t method = method_of(ids[i]);

		if (method && copy_method(method) &&
		    strcmp(method_copy_text(copy, METHOD_NAME), name) == 0)
			found = method;
	}
	(void)(*jvmti)->Deallocate(jvmti, (unsigned char *)ids);
	return found;
}

JNIEXPORT jboolean JNICALL Java_MethodNames_redefine(JNIEnv *, jclass, jclass, jbyteArray, jstring);
JNIEXPORT void JNICALL Java_MethodNames_check(JNIEnv *, jclass);
JNIEXPORT void JNICALL Java_MethodNames_stale(JNIEnv *, jclass);
JNIEXPORT void JNICALL Java_MethodNames_begin(JNIEnv *, jclass);
JNIEXPORT void JNICALL Java_MethodNames_end(JNIEnv *, jclass);

/* Has a method that was met this instruction (bipush) with this number? */
static bool pushes(uint32_t number, uint8_t value)
{
	static uint8_t code[UINT16_MAX];
	const struct method_copy *of = number ? method_of_number(method_table(), number) : NULL;
	const uint8_t push[] = {0x10, value};

	return of && bytecodes_read(&layout, of, code) &&
	       memmem(code, of->look.code_size, push, sizeof(push));
}

/* Of the method of that name a call is running. After the class is redefined it is another method
 * than that one, and both have their names. */
JNIEXPORT jboolean JNICALL Java_MethodNames_redefine(JNIEnv *jni, jclass this, jclass class,
						     jbyteArray bytes, jstring name)
{
	const char *method_name = (*jni)->GetStringUTFChars(jni, name, NULL);
	jbyte *data = (*jni)->GetByteArrayElements(jni, bytes, NULL);
	jvmtiClassDefinition definition = {.klass = class,
					   .class_byte_count = (*jni)->GetArrayLength(jni, bytes),
					   .class_bytes = (const unsigned char *)data};
	uint32_t before, after, old_again;
	uint64_t older, newer;

	(void)this;
	prepare(jni);
	older = find_method(jni, class, method_name);
	before = method_number(method_table(), &layout, older, 0);
	check((*jvmti)->RedefineClasses(jvmti, 1, &definition), "RedefineClasses");
	newer = find_method(jni, class, method_name);
	after = method_number(method_table(), &layout, newer, 0);
	old_again = method_number(method_table(), &layout, older, 0);
	printf("redefined: %u, %u, still %u\n", before, after, old_again);
	(*jni)->ReleaseByteArrayElements(jni, bytes, data, JNI_ABORT);
	(*jni)->ReleaseStringUTFChars(jni, name, method_name);
	return before && after && before != after && older != newer && old_again == before &&
	       pushes(before, 41) && pushes(after, 42);
}

static int by_method(const void *a, const void *b)
{
	uint64_t x = ((const struct pair *)a)->method, y = ((const struct pair *)b)->method;

	return (x > y) - (x < y);
}

/* By what every Method begins with: the JVM's table of its functions, or that of its archive. */
#define TABLES_MAX 8u
static uint64_t tables[TABLES_MAX];

static bool is_table(uint64_t table, bool add)
{
	for (unsigned i = 0; i < TABLES_MAX; i++) {
		if (!tables[i] && add)
			tables[i] = table;
		if (tables[i] == table)
			return true;
	}
	return false;
}

/* What is believed of addresses near those of methods, at which there is something else. Between
 * them are methods of the archive's whose classes are not loaded. */
static void check_neighbours(void)
{
	unsigned tried = 0, archived = 0, believed = 0;

	qsort(pairs, pair_count, sizeof(*pairs), by_method);
	for (size_t i = 0; i < pair_count; i++)
		(void)is_table(read_word(pairs[i].method), true);
	for (size_t i = 0; i < pair_count && tried < NEIGHBOURS_MAX; i++)
		for (int64_t by = -128; by <= 128; by += 8) {
			struct pair key = {.method = pairs[i].method + (uint64_t)by};

			if (bsearch(&key, pairs, pair_count, sizeof(*pairs), by_method))
				continue;
			tried++;
			if (!copy_method(key.method))
				continue;
			if (is_table(read_word(key.method), false))
				archived++;
			else if (believed++ < SHOWN_MAX)
				printf("believed: %s %s at %d\n",
				       method_copy_text(copy, METHOD_CLASS),
				       method_copy_text(copy, METHOD_NAME), (int)by);
		}
	printf("neighbours: %u tried, %u archived, %u believed\n", tried, archived, believed);
}

JNIEXPORT void JNICALL Java_MethodNames_check(JNIEnv *jni, jclass this)
{
	(void)this;
	prepare(jni);
	check_wrong_layouts();
	method_table_release();
	each_class(jni, make_ids);
	find_pairs();
	each_class(jni, compare_class_methods);
	printf("methods: %u classes, %u methods, %u natives, %u hidden, %u numbered, %u lines, "
	       "%u bytecodes, %u fields, %u declared, %u calls, %u asked, %u led, %u own, %u "
	       "handles, %u missing, %u different\n",
	       tally.classes, tally.methods, tally.natives, tally.hidden, tally.numbered,
	       tally.lines, tally.bytecodes, tally.fields, tally.declared, tally.calls, tally.asked,
	       tally.led, tally.own, tally.handles, tally.missing, tally.different);
	printf("table: %u numbers, %u full, %u unread, bytes %u median %u p99, "
	       "first %u ns median %u p99, again %u ns median %u p99\n",
	       measured, method_table()->full, method_table()->unread, share(sizes, 50),
	       share(sizes, 99), share(times, 50), share(times, 99), share(again, 50),
	       share(again, 99));
	check_neighbours();
	(void)fflush(stdout);
}

/* What became of the methods of all classes that were there at the check, of which many are gone:
 * other things lie in their places, or nothing. */
JNIEXPORT void JNICALL Java_MethodNames_stale(JNIEnv *jni, jclass this)
{
	unsigned same = 0, refused = 0;

	(void)jni, (void)this;
	for (size_t i = 0; i < pair_count; i++) {
		if (copy_method(pairs[i].method))
			same++;
		else
			refused++;
	}
	printf("stale: %u copied, %u refused\n", same, refused);
	(void)fflush(stdout);
}

/* ---------------------------------------------------------------- while classes come and go */

/* Of the class that those that come and go are copies of, each method's name and descriptor. */
#define ORIGINAL   "ManyClasses$"
#define COPIES_MAX 32u
static char known_names[COPIES_MAX][64];
static unsigned known_count;
static pthread_t looker;
static _Atomic bool ends;
static struct {
	struct pair pair;
	unsigned looks, right;
} * looked;
static size_t looked_count;
static unsigned wrong; /* of classes that were gone, whose name's place is another's */

static void name_of_copy(char name[64])
{
	(void)snprintf(name, 64, "%s%s", method_copy_text(copy, METHOD_NAME),
		       method_copy_text(copy, METHOD_DESCRIPTOR));
}

static bool is_original(void)
{
	return strncmp(method_copy_text(copy, METHOD_CLASS), ORIGINAL, strlen(ORIGINAL)) == 0;
}

static bool is_known(const char *name)
{
	for (unsigned i = 0; i < known_count; i++)
		if (strcmp(known_names[i], name) == 0)
			return true;
	return false;
}

/* "ManyClasses$Copy", with a hidden class's number or without. */
static bool is_well_named(const char *class)
{
	const char *rest = class + strlen(ORIGINAL);
	size_t letters = 0;

	while (isalnum((unsigned char)rest[letters]))
		letters++;
	rest += letters;
	return letters >= 4 &&
	       (!*rest || (strncmp(rest, "+0x", 3) == 0 &&
			   strspn(rest + 3, "0123456789abcdef") == 16 && !rest[19]));
}

static void look_at(size_t i)
{
	char name[64];

	looked[i].looks++;
	if (!copy_method(looked[i].pair.method))
		return;
	name_of_copy(name);
	if (is_known(name) && is_original() && is_well_named(method_copy_text(copy, METHOD_CLASS)))
		looked[i].right++;
	else
		wrong++;
}

static void *look_on(void *arg)
{
	(void)arg;
	while (!ends)
		for (size_t i = 0; i < looked_count && !ends; i++)
			look_at(i);
	return NULL;
}

/* Looks on and on at the methods of all classes that are such copies now, of which some stay. */
JNIEXPORT void JNICALL Java_MethodNames_begin(JNIEnv *jni, jclass this)
{
	(void)this;
	each_class(jni, make_ids);
	find_pairs();
	looked = calloc(pair_count, sizeof(*looked));
	if (!looked)
		fail("memory");
	for (size_t i = 0; i < pair_count; i++) {
		if (!copy_method(pairs[i].method) || !is_original())
			continue;
		looked[looked_count++].pair = pairs[i];
		name_of_copy(known_names[known_count]);
		if (!is_known(known_names[known_count]) && known_count < COPIES_MAX - 1)
			known_count++;
	}
	if (pthread_create(&looker, NULL, look_on, NULL) != 0)
		fail("no thread");
}

/* What was there all the while was read right each time. */
JNIEXPORT void JNICALL Java_MethodNames_end(JNIEnv *jni, jclass this)
{
	unsigned stayed = 0, looks = 0, right = 0, missed = 0, gone_right = 0;

	(void)this;
	ends = true;
	(void)pthread_join(looker, NULL);
	each_class(jni, make_ids);
	find_pairs();
	for (size_t i = 0; i < looked_count; i++) {
		bool stays =
		    method_of((jmethodID)(uintptr_t)looked[i].pair.id) == looked[i].pair.method;

		if (!stays) {
			gone_right += looked[i].right;
			continue;
		}
		stayed++;
		looks += looked[i].looks;
		right += looked[i].right;
		missed += looked[i].right != looked[i].looks;
	}
	printf("coming and going: %u stayed, %u looks, %u right, %u missed; %zu gone, %u right, "
	       "%u wrong\n",
	       stayed, looks, right, missed, looked_count - stayed, gone_right, wrong);
	(void)fflush(stdout);
}
