#include "attach/agent/jvm/method_facts.h"

#include <stddef.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/known_classes.h"
#include "attach/agent/jvm/pool_facts.h"
#include "attach/agent/jvm/vmstructs.h"
#include "attach/agent/method/bytecodes.h"
#include "attach/agent/method/line_table.h"
#include "common/code/java_op.h"

/* The longest has 25. */
#define OP_NAME_BYTES 32u

/* A field that is read, and how long it is. */
struct field {
	const char *type;
	const char *name;
	uint32_t *offset;
	uint32_t bytes;
};

/* Flags of a ConstMethod are, from JDK 21 on, in a structure of their own. */
#define CONST_FLAGS_OLD "_flags"
#define CONST_FLAGS_NEW "_flags._flags"

static bool read_field(const struct field *f)
{
	uint64_t offset;

	if (!vmstructs_offset(f->type, f->name, &offset) || offset > UINT32_MAX)
		return false;
	*f->offset = (uint32_t)offset;
	return true;
}

/* The size of a structure that is read as a whole. */
static bool read_size(const char *type, uint32_t *bytes)
{
	uint64_t size;

	if (!vmstructs_type_size(type, &size) || size > METHOD_HEAD_BYTES_MAX)
		return false;
	*bytes = (uint32_t)size;
	return true;
}

static const char *read_sizes(struct method_layout *l)
{
	if (!read_size("Method", &l->method_bytes))
		return "size of Method";
	if (!read_size("ConstMethod", &l->const_bytes))
		return "size of ConstMethod";
	return read_size("ConstantPool", &l->pool_bytes) ? NULL : "size of ConstantPool";
}

/* In JDK 11 by itself, later the lower half of a word. */
static bool read_users(struct method_layout *l)
{
	const struct field in_word = {"Symbol", "_hash_and_refcount", &l->symbol_users, 0};
	const struct field alone = {"Symbol", "_refcount", &l->symbol_users, 0};

	return (read_field(&in_word) || read_field(&alone)) &&
	       l->symbol_users <= METHOD_HEAD_BYTES_MAX - 2;
}

static const char *read_fields(struct method_layout *l)
{
	const struct field fields[] = {
	    {"Method", "_constMethod", &l->method_const, l->method_bytes - 8},
	    {"Method", "_access_flags", &l->method_flags, l->method_bytes - 2},
	    {"ConstMethod", "_constants", &l->const_constants, l->const_bytes - 8},
	    {"ConstMethod", "_constMethod_size", &l->const_words, l->const_bytes - 4},
	    {"ConstMethod", "_code_size", &l->const_code_size, l->const_bytes - 2},
	    {"ConstMethod", "_name_index", &l->const_name, l->const_bytes - 2},
	    {"ConstMethod", "_signature_index", &l->const_signature, l->const_bytes - 2},
	    {"ConstantPool", "_pool_holder", &l->pool_holder, l->pool_bytes - 8},
	    {"ConstantPool", "_length", &l->pool_length, l->pool_bytes - 4},
	    {"Klass", "_name", &l->class_name, UINT32_MAX},
	    {"Symbol", "_length", &l->symbol_length, METHOD_HEAD_BYTES_MAX - 2},
	    {"Symbol", "_body", &l->symbol_body, METHOD_HEAD_BYTES_MAX},
	};

	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!read_field(&fields[i]) || *fields[i].offset > fields[i].bytes)
			return fields[i].name;
	return read_users(l) ? NULL : "_refcount";
}

static const char *read_lines(struct method_layout *l)
{
	const struct field old = {"ConstMethod", CONST_FLAGS_OLD, &l->const_flags, 0};
	const struct field new = {"ConstMethod", CONST_FLAGS_NEW, &l->const_flags, 0};
	int32_t flag;

	if (!read_field(&new) && !read_field(&old))
		return CONST_FLAGS_OLD;
	if ((!vmstructs_int_constant("ConstMethodFlags::_misc_has_linenumber_table", &flag) &&
	     !vmstructs_int_constant("ConstMethod::_has_linenumber_table", &flag)) ||
	    flag <= 0 || flag > UINT16_MAX || l->const_flags > l->const_bytes - 2)
		return "_has_linenumber_table";
	l->has_lines = (uint16_t)flag;
	return NULL;
}

static const char *read_file(struct method_layout *l)
{
	const struct field in_pool = {"ConstantPool", "_source_file_name_index", &l->pool_file, 0};
	const struct field in_class = {"InstanceKlass", "_source_file_name_index", &l->class_file,
				       0};
	const struct field constants = {"InstanceKlass", "_constants", &l->class_constants, 0};

	l->file_in_class = !read_field(&in_pool);
	if (!l->file_in_class)
		return l->pool_file > l->pool_bytes - 2 ? "_source_file_name_index" : NULL;
	if (!read_field(&in_class))
		return "_source_file_name_index";
	return read_field(&constants) ? NULL : "_constants";
}

/* The interpreter has a piece of code for each instruction, which says the instruction's number and
 * its name: of the JVM's own, whose numbers are each release's. */
struct codelets {
	uint64_t buffer, bytes;
	uint32_t begin, end, limit; /* in the buffer */
	uint32_t name, size, op;    /* in a codelet */
};

static bool read_int(uint64_t address, uint32_t *value)
{
	return safe_read(address, value, sizeof(*value));
}

static bool find_codelets(struct codelets *c)
{
	uint32_t buffer, begin, end, limit;
	const struct field fields[] = {
	    {"StubQueue", "_stub_buffer", &buffer, 0},
	    {"StubQueue", "_queue_begin", &begin, 0},
	    {"StubQueue", "_queue_end", &end, 0},
	    {"StubQueue", "_buffer_limit", &limit, 0},
	    {"InterpreterCodelet", "_description", &c->name, 0},
	    {"InterpreterCodelet", "_size", &c->size, 0},
	    {"InterpreterCodelet", "_bytecode", &c->op, 0},
	};
	uint64_t queue;

	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!read_field(&fields[i]))
			return false;
	return vmstructs_type_size("InterpreterCodelet", &c->bytes) &&
	       vmstructs_static_word("AbstractInterpreter", "_code", &queue) &&
	       safe_read(queue + buffer, &c->buffer, sizeof(c->buffer)) &&
	       read_int(queue + begin, &c->begin) && read_int(queue + end, &c->end) &&
	       read_int(queue + limit, &c->limit);
}

/* The name of a codelet, cut where it is longer than any instruction's. */
static bool read_name(uint64_t codelet, const struct codelets *c, char name[OP_NAME_BYTES])
{
	uint64_t at;
	size_t got;

	if (!safe_read(codelet + c->name, &at, sizeof(at)))
		return false;
	got = safe_read_some(at, name, OP_NAME_BYTES - 1);
	name[got] = '\0';
	return got > 0;
}

/* All of them, in a row: the JVM never removes one. False where that is not what there is. */
static bool read_own_ops(uint8_t java_op[256])
{
	char name[OP_NAME_BYTES];
	struct codelets c;
	unsigned found = 0;
	uint32_t size, op;

	if (!find_codelets(&c))
		return false;
	for (uint32_t at = c.begin; at < c.end && at < c.limit; at += size) {
		uint64_t codelet = c.buffer + at;

		if (!read_int(codelet + c.size, &size) || size < c.bytes ||
		    !read_int(codelet + c.op, &op))
			return false;
		if (op < JAVA_OPS || op > UINT8_MAX || !read_name(codelet, &c, name))
			continue;
		java_op[op] = bytecodes_op_of(name);
		found += java_op[op] != METHOD_OP_UNKNOWN;
	}
	return found > 0;
}

static void read_ops(struct method_layout *l)
{
	memset(l->java_op, METHOD_OP_UNKNOWN, sizeof(l->java_op));
	for (unsigned op = 0; op < JAVA_OPS; op++)
		l->java_op[op] = (uint8_t)op;
	l->code_known = read_own_ops(l->java_op);
}

/* From JDK 20 on the bytes of a compressed number are never zero (JDK-8292758). */
#define RELEASE_WITHOUT_ZERO_BYTES 20

const char *method_facts_read(unsigned release, struct method_layout *out)
{
	struct method_layout l = {.byte_base = release >= RELEASE_WITHOUT_ZERO_BYTES};
	const char *missing = release > 0 ? read_sizes(&l) : "release";

	if (!missing)
		missing = read_fields(&l);
	if (!missing)
		missing = read_lines(&l);
	if (!missing)
		missing = read_file(&l);
	l.known = !missing;
	if (l.known) {
		read_ops(&l);
		pool_facts_read(&l.pools);
	}
	*out = l;
	return missing;
}

/* ---------------------------------------------------------------- java.lang.Object */

/* It has 12 methods, of short names and few bytecodes. */
#define OBJECT_METHODS_MAX 64
#define OBJECT_COPY_BYTES  1024u
#define OBJECT_CODE_MAX    256u

static bool object_methods(uint64_t *methods, uint64_t *data, int32_t *count)
{
	uint64_t klass = known_class("Object"), methods_at;

	return vmstructs_offset("InstanceKlass", "_methods", &methods_at) &&
	       vmstructs_offset("Array<Method*>", "_data", data) &&
	       safe_read(klass + methods_at, methods, sizeof(*methods)) &&
	       safe_read(*methods, count, sizeof(*count)) && *count > 0 &&
	       *count <= OBJECT_METHODS_MAX;
}

static bool is_text(const struct method_copy *c, enum method_part part, const char *text)
{
	return strcmp(method_copy_text(c, part), text) == 0;
}

/* "return this == obj", on one line: of all releases. Classes may have been made without lines, and
 * have no file then either. */
static const char *check_equals(const struct method_layout *l, const struct method_copy *c)
{
	struct line_table lines =
	    line_table_of(method_copy_lines(c), c->look.lines_size, l->byte_base);
	static const uint8_t returns_same[] = {0x2a, 0x2b, 0xa6, 0, 7, 4, 0xa7, 0, 4, 3, 0xac};
	uint8_t code[OBJECT_CODE_MAX];

	if (method_copy_is_native(c) || c->look.code_size != sizeof(returns_same))
		return "size";
	if (l->code_known &&
	    (!bytecodes_read(l, c, code) || memcmp(code, returns_same, sizeof(returns_same)) != 0))
		return "bytecodes";
	if ((c->look.lines_size > 0) != (method_copy_text(c, METHOD_FILE) != NULL))
		return "lines or file";
	if (c->look.lines_size > 0 &&
	    (!line_table_next(&lines) || lines.bci != 0 || lines.line < 10 || lines.line > 2000 ||
	     line_table_next(&lines)))
		return "lines";
	return NULL;
}

static const char *check_object_method(const struct method_layout *l, uint64_t method,
				       unsigned *known)
{
	uint64_t space[OBJECT_COPY_BYTES / sizeof(uint64_t)];
	struct method_copy *c = (struct method_copy *)space;
	struct method_look look;
	const char *file;

	if (!method_look(l, method, &look) || method_copy_bytes(&look) > sizeof(space) ||
	    !method_copy(l, &look, c))
		return "method";
	file = method_copy_text(c, METHOD_FILE);
	if (!is_text(c, METHOD_CLASS, "java/lang/Object"))
		return "class";
	if (file && strcmp(file, "Object.java") != 0)
		return "file";
	if (is_text(c, METHOD_NAME, "hashCode") && is_text(c, METHOD_DESCRIPTOR, "()I")) {
		++*known;
		return method_copy_is_native(c) && c->look.code_size == 0 ? NULL : "flags";
	}
	if (is_text(c, METHOD_NAME, "equals") &&
	    is_text(c, METHOD_DESCRIPTOR, "(Ljava/lang/Object;)Z")) {
		++*known;
		return check_equals(l, c);
	}
	return NULL;
}

const char *method_facts_check(const struct method_layout *layout)
{
	uint64_t methods, data, method;
	const char *wrong = NULL;
	unsigned known = 0;
	int32_t count;

	if (!object_methods(&methods, &data, &count))
		return "java.lang.Object";
	for (int32_t i = 0; i < count && !wrong; i++)
		wrong = safe_read(methods + data + (uint64_t)i * sizeof(method), &method,
				  sizeof(method))
			    ? check_object_method(layout, method, &known)
			    : "methods";
	if (!wrong && known != 2)
		wrong = "names";
	return wrong;
}
