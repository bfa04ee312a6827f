#include "attach/agent/jvm/method_facts.h"

#include <stddef.h>

#include "attach/agent/jvm/vmstructs.h"

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
	return !read_size("Method", &l->method_bytes)       ? "size of Method"
	       : !read_size("ConstMethod", &l->const_bytes) ? "size of ConstMethod"
	       : !read_size("ConstantPool", &l->pool_bytes) ? "size of ConstantPool"
							    : NULL;
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
	return NULL;
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
	return !read_field(&in_class)    ? "_source_file_name_index"
	       : !read_field(&constants) ? "_constants"
					 : NULL;
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
	*out = l;
	return missing;
}
