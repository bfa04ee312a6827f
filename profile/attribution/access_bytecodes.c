#include "profile/attribution/access_bytecodes.h"

#include <string.h>

#include "common/code/java_op.h"
#include "profile/attribution/array_types.h"

/* A bytecode of one of a code's methods. */
struct access_bytecode {
	const struct code_image *image;
	uint32_t method, bci;
	uint8_t op;
};

static bool makes_array(uint8_t op)
{
	return op == JAVA_NEWARRAY || op == JAVA_ANEWARRAY || op == JAVA_MULTIANEWARRAY;
}

/* Descriptors of primitive types, and the last letters of their arrays' opcodes in the order of
 * iaload to saload; Z is accessed as B. */
static const struct {
	const char *name;
	char descriptor;
	uint8_t array; /* from iaload, or iastore, on */
} primitives[] = {
    {"int", 'I', 0},  {"long", 'J', 1}, {"float", 'F', 2},   {"double", 'D', 3},
    {"byte", 'B', 5}, {"char", 'C', 6}, {"boolean", 'Z', 5}, {"short", 'S', 7},
};

#define PRIMITIVES (sizeof(primitives) / sizeof(primitives[0]))
#define REFERENCES (JAVA_AALOAD - JAVA_IALOAD)

/* How often "[]" stands behind a type's name, of so many bytes. */
static size_t dimensions(const char *name, size_t *length)
{
	size_t count = 0;

	for (*length = strlen(name); *length >= 2 && name[*length - 1] == ']'; *length -= 2)
		count++;
	return count;
}

/* Is a descriptor that of a type by its Java name? */
static bool is_type(const char *descriptor, const char *name)
{
	size_t depth = strspn(descriptor, "["), length;

	if (dimensions(name, &length) != depth)
		return false;
	descriptor += depth;
	if (descriptor[0] != 'L') {
		for (size_t i = 0; i < PRIMITIVES; i++)
			if (primitives[i].descriptor == descriptor[0])
				return strlen(primitives[i].name) == length &&
				       memcmp(primitives[i].name, name, length) == 0;
		return false;
	}
	descriptor++;
	if (strcspn(descriptor, ";") != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((descriptor[i] == '/' ? '.' : descriptor[i]) != name[i])
			return false;
	return true;
}

static bool is_primitive(const char *descriptor)
{
	return descriptor[0] && descriptor[0] != 'L' && descriptor[0] != '[';
}

/* ---------------------------------------------------------------- what is named */

/* The class that declares the field; where the JVM has not said, it is the one that is named. */
static bool is_declared_in(const struct code_image *image, const struct code_member *m,
			   const struct attribution_access *a)
{
	const char *named = code_image_text(image, m->class_name);
	const char *declares = code_image_text(image, m->declared_in);
	const char *wanted = a->declared_in[0] ? a->declared_in : a->class_name;

	if (declares[0])
		return strcmp(declares, wanted) == 0;
	return strcmp(named, wanted) == 0 || strcmp(named, a->class_name) == 0;
}

/* By an array's name: which of iaload and those behind it loads its elements. */
static uint8_t array_of(const char *class_name)
{
	size_t length = strlen(class_name);

	if (length < 2)
		return REFERENCES;
	for (size_t i = 0; i < PRIMITIVES; i++)
		if (strlen(primitives[i].name) == length - 2 &&
		    memcmp(primitives[i].name, class_name, length - 2) == 0)
			return primitives[i].array;
	return REFERENCES;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* ---------------------------------------------------------------- calls */

/* A method that the compiler may have code of its own for: what has a name (code_image.h). */
struct own_code {
	const char *owner, *name, *descriptor;
	bool leads; /* it has bytecodes in the image */
};

static bool has_own_code(const struct access_bytecode *b, struct own_code *c)
{
	const struct code_reference *r =
	    java_op_calls(b->op) ? code_image_reference(b->image, b->method, b->bci) : NULL;
	const struct code_member *m = r ? &b->image->members[r->member] : NULL;

	if (!m || !code_image_text(b->image, m->name)[0])
		return false;
	*c = (struct own_code){
	    .owner = code_image_text(b->image, m->declared_in ? m->declared_in : m->class_name),
	    .name = code_image_text(b->image, m->name),
	    .descriptor = code_image_text(b->image, m->descriptor),
	    .leads = r->target_count > 0};
	return true;
}

static bool is_of_reference(const struct attribution_access *a)
{
	if (a->kind == JXP__LOCATION__KIND__ELEMENT)
		return array_of(a->class_name) == REFERENCES;
	for (size_t i = 0; i < PRIMITIVES; i++)
		if (strcmp(primitives[i].name, a->type) == 0)
			return false;
	return true;
}

/* Most of Unsafe's methods are called after what they do, and to what. A collector may load what a
 * store of a reference overwrites, and store what a load of one has found. */
static bool unsafe_accesses(const char *name, const struct attribution_access *a)
{
	bool references = strstr(name, "Reference") || strstr(name, "Object");
	bool both = begins(name, "compareAnd") || begins(name, "weakCompareAnd") ||
		    begins(name, "getAnd") || begins(name, "copy");
	bool loads = both || begins(name, "get");
	bool stores = both || begins(name, "put") || begins(name, "setMemory");

	if (references)
		return (loads || stores) && is_of_reference(a);
	return ((loads && a->loads) || (stores && a->stores)) &&
	       (a->type[0] == '\0' || !is_of_reference(a));
}

/* Classes whose methods access arrays that they are not given as such: Objects, or what an object
 * of theirs has. */
static bool has_arrays(const struct own_code *c, const struct attribution_access *a)
{
	bool text = array_of(a->class_name) == array_of("byte[]") ||
		    array_of(a->class_name) == array_of("char[]");

	if (strcmp(c->owner, "java.lang.Object") == 0)
		return strcmp(c->name, "clone") == 0;
	if (strcmp(c->owner, "java.lang.System") == 0)
		return strcmp(c->name, "arraycopy") == 0;
	if (strcmp(c->owner, "java.lang.reflect.Array") == 0)
		return true;
	if (begins(c->owner, "java.lang.String"))
		return text;
	return array_of(a->class_name) != REFERENCES &&
	       (strcmp(c->owner, "jdk.internal.util.ArraysSupport") == 0 ||
		begins(c->owner, "jdk.internal.vm.vector.") ||
		begins(c->owner, "com.sun.crypto.provider.") ||
		begins(c->owner, "sun.security.provider."));
}

/* Is there an array of such elements among what it takes and returns? */
static bool names_array(const char *descriptor, const struct attribution_access *a)
{
	uint8_t array = array_of(a->class_name);

	for (const char *at = strchr(descriptor, '['); at; at = strchr(at, '[')) {
		size_t depth = strspn(at, "[");

		at += depth;
		if (depth > 1 || *at == 'L') {
			if (array == REFERENCES)
				return true;
			continue;
		}
		for (size_t i = 0; i < PRIMITIVES; i++)
			if (primitives[i].descriptor == *at && primitives[i].array == array)
				return true;
	}
	return false;
}

static bool accesses_array(const struct own_code *c, const struct attribution_access *a)
{
	return names_array(c->descriptor, a) || has_arrays(c, a);
}

/* A method knows its own class's fields, and what its bytecodes access has these.
 * Object.clone copies any object, and a handle leads to any. */
static bool accesses(const struct own_code *c, const struct attribution_access *a)
{
	if (strcmp(c->owner, "java.lang.invoke.MethodHandle") == 0 ||
	    strcmp(c->owner, "java.lang.invoke.VarHandle") == 0)
		return !c->leads;
	if (a->kind == JXP__LOCATION__KIND__ELEMENT)
		return accesses_array(c, a);
	if (strcmp(c->owner, "java.lang.Object") == 0)
		return strcmp(c->name, "clone") == 0;
	return !c->leads && strcmp(c->owner, a->declared_in) == 0;
}

/* A call that the compiler may have code of its own for, which makes such an access. */
static enum access_fit fits_call(const struct access_bytecode *b,
				 const struct attribution_access *a)
{
	struct own_code c;

	if (!has_own_code(b, &c))
		return ACCESS_FIT_NONE;
	if (strstr(c.owner, ".misc.Unsafe"))
		return unsafe_accesses(c.name, a) ? ACCESS_FIT_UNSAFE : ACCESS_FIT_NONE;
	return accesses(&c, a) ? ACCESS_FIT_PERHAPS : ACCESS_FIT_NONE;
}

/* A call that looks at the arrays that it is given. */
static bool calls_for_arrays(const struct access_bytecode *b, const struct attribution_access *a)
{
	struct own_code c;

	return has_own_code(b, &c) && accesses_array(&c, a);
}

/* ---------------------------------------------------------------- fields */

/* Does it make an array of that type, as far as it says so? */
static bool makes_array_of(const struct access_bytecode *b, const struct attribution_access *a)
{
	/* JVMS, newarray: T_BOOLEAN to T_LONG. */
	static const char *const types[] = {"boolean", "char",  "float", "double",
					    "byte",    "short", "int",   "long"};
	const struct code_method *m = &b->image->methods[b->method];
	uint8_t type;

	if (b->op != JAVA_NEWARRAY || b->bci + 1 >= m->bytecode_bytes)
		return b->op == JAVA_MULTIANEWARRAY ||
		       (b->op == JAVA_ANEWARRAY && array_of(a->class_name) == REFERENCES);
	type = b->image->bytecodes[m->bytecode + b->bci + 1];
	return type >= 4 && type <= 11 && a->class_name[0] &&
	       strlen(types[type - 4]) + 2 == strlen(a->class_name) &&
	       begins(a->class_name, types[type - 4]);
}

/* Does it make such an object, whose header is written then? */
static bool makes(const struct access_bytecode *b, const struct attribution_access *a)
{
	bool array = strchr(a->class_name, ']');

	if (b->op != JAVA_NEW && !makes_array(b->op))
		return false;
	if (a->class_name[0] == '\0')
		return true;
	return b->op == JAVA_NEW ? !array : array && makes_array_of(b, a);
}

static enum access_fit fits_field(const struct access_bytecode *b,
				  const struct attribution_access *a)
{
	bool is_static = a->kind == JXP__LOCATION__KIND__STATIC;
	uint8_t get = is_static ? JAVA_GETSTATIC : JAVA_GETFIELD, put = get + 1;
	const struct code_reference *r;
	const struct code_member *m;
	const char *descriptor;

	if (b->op != get && b->op != put)
		return fits_call(b, a);
	r = code_image_reference(b->image, b->method, b->bci);
	if (!r)
		return ACCESS_FIT_NONE;
	m = &b->image->members[r->member];
	descriptor = code_image_text(b->image, m->descriptor);
	if (strcmp(code_image_text(b->image, m->name), a->field) != 0 ||
	    (a->type[0] && descriptor[0] && !is_type(descriptor, a->type)) ||
	    !is_declared_in(b->image, m, a))
		return ACCESS_FIT_NONE;
	if (b->op == get ? !a->loads : !a->stores)
		return b->op == put && !is_primitive(descriptor) ? ACCESS_FIT_BARRIER
								 : ACCESS_FIT_NONE;
	return ACCESS_FIT;
}

/* ---------------------------------------------------------------- arrays and headers */

static enum access_fit fits_element(const struct access_bytecode *b,
				    const struct attribution_access *a)
{
	uint8_t array = array_of(a->class_name);

	if ((java_op_loads_element(b->op) || java_op_stores_element(b->op)) &&
	    !array_type_may_be(array_type_at(b->image, b->method, b->bci), a->class_name))
		return ACCESS_FIT_NONE;
	if (b->op == JAVA_IALOAD + array)
		return a->loads ? ACCESS_FIT : ACCESS_FIT_NONE;
	if (b->op == JAVA_IASTORE + array && a->stores)
		return ACCESS_FIT;
	if (b->op == JAVA_AASTORE && array == REFERENCES)
		return ACCESS_FIT_BARRIER;
	if (makes_array(b->op))
		return a->stores && makes_array_of(b, a) ? ACCESS_FIT_PERHAPS : ACCESS_FIT_NONE;
	return fits_call(b, a);
}

/* Reads it the length of such an array? Accesses to elements do, too. */
static bool reads_length(const struct access_bytecode *b, const struct attribution_access *a)
{
	uint8_t array = array_of(a->class_name);

	if (b->op != JAVA_ARRAYLENGTH && !java_op_loads_element(b->op) &&
	    !java_op_stores_element(b->op))
		return false;
	return a->class_name[0] == '\0' ||
	       ((b->op == JAVA_ARRAYLENGTH || b->op == JAVA_IALOAD + array ||
		 b->op == JAVA_IASTORE + array) &&
		array_type_may_be(array_type_at(b->image, b->method, b->bci), a->class_name));
}

static enum access_fit fits_length(const struct access_bytecode *b,
				   const struct attribution_access *a)
{
	if (makes(b, a))
		return a->stores ? ACCESS_FIT : ACCESS_FIT_NONE;
	if (!a->loads)
		return ACCESS_FIT_NONE;
	if (reads_length(b, a))
		return ACCESS_FIT;
	return calls_for_arrays(b, a) ? ACCESS_FIT_PERHAPS : ACCESS_FIT_NONE;
}

static enum access_fit fits_class(const struct access_bytecode *b,
				  const struct attribution_access *a)
{
	if (makes(b, a))
		return a->stores ? ACCESS_FIT : ACCESS_FIT_NONE;
	if (!a->loads)
		return ACCESS_FIT_NONE;
	if (b->op == JAVA_INVOKEVIRTUAL || b->op == JAVA_INVOKEINTERFACE ||
	    b->op == JAVA_CHECKCAST || b->op == JAVA_INSTANCEOF || b->op == JAVA_AASTORE)
		return ACCESS_FIT;
	return java_op_calls(b->op) ? ACCESS_FIT_PERHAPS : ACCESS_FIT_NONE;
}

static enum access_fit fits_mark(const struct access_bytecode *b,
				 const struct attribution_access *a)
{
	if (b->op == JAVA_MONITORENTER || b->op == JAVA_MONITOREXIT)
		return ACCESS_FIT;
	if (makes(b, a))
		return a->stores ? ACCESS_FIT : ACCESS_FIT_NONE;
	/* The receiver's word is touched to see that there is one, or for its identity. */
	return a->loads && java_op_calls(b->op) && b->op != JAVA_INVOKEDYNAMIC &&
		       b->op != JAVA_INVOKESTATIC
		   ? ACCESS_FIT_PERHAPS
		   : ACCESS_FIT_NONE;
}

static enum access_fit fits_header(const struct access_bytecode *b,
				   const struct attribution_access *a)
{
	if (strcmp(a->field, "length") == 0)
		return fits_length(b, a);
	return strcmp(a->field, "class") == 0 ? fits_class(b, a) : fits_mark(b, a);
}

bool access_bytecodes_tell(const struct attribution_access *a)
{
	switch (a->kind) {
	case JXP__LOCATION__KIND__FIELD:
	case JXP__LOCATION__KIND__STATIC:
	case JXP__LOCATION__KIND__HEADER:
		return a->field[0];
	case JXP__LOCATION__KIND__ELEMENT:
		return a->class_name[0];
	default:
		return false;
	}
}

enum access_fit access_bytecode_fits(const struct code_image *image, uint32_t method, uint32_t bci,
				     const struct attribution_access *a)
{
	const struct code_method *m = &image->methods[method];
	struct access_bytecode b = {image, method, bci, 0};

	if (bci >= m->bytecode_bytes)
		return ACCESS_FIT_NONE;
	b.op = image->bytecodes[m->bytecode + bci];
	switch (a->kind) {
	case JXP__LOCATION__KIND__FIELD:
	case JXP__LOCATION__KIND__STATIC:
		return fits_field(&b, a);
	case JXP__LOCATION__KIND__ELEMENT:
		return fits_element(&b, a);
	case JXP__LOCATION__KIND__HEADER:
		return fits_header(&b, a);
	default:
		return ACCESS_FIT_NONE;
	}
}

/* ---------------------------------------------------------------- in stubs */

/* Does the bytecode at at lead back to one that comes before bci, or to bci? */
static bool leads_back_over(const uint8_t *code, uint32_t size, uint32_t at, uint32_t bci)
{
	uint32_t count = java_op_targets(code, size, at);

	for (uint32_t i = 0; i < count; i++) {
		int64_t target = java_op_target(code, at, i);

		if (target >= 0 && target < at && target <= bci)
			return true;
	}
	return false;
}

static bool is_in_loop(const struct code_image *image, uint32_t method, uint32_t bci)
{
	const struct code_method *m = &image->methods[method];
	const uint8_t *code = image->bytecodes + m->bytecode;
	uint32_t length;

	for (uint32_t at = 0; at < m->bytecode_bytes; at += length) {
		length = java_op_length(code, m->bytecode_bytes, at);
		if (length == 0)
			return false;
		if (at >= bci && leads_back_over(code, m->bytecode_bytes, at, bci))
			return true;
	}
	return false;
}

enum access_fit access_stub_fits(const struct code_image *image, uint32_t method, uint32_t bci,
				 const struct attribution_access *a)
{
	enum access_fit fit = access_bytecode_fits(image, method, bci, a);
	const struct code_method *m = &image->methods[method];
	uint8_t op;

	if (fit == ACCESS_FIT_NONE || a->kind == JXP__LOCATION__KIND__HEADER)
		return fit;
	op = image->bytecodes[m->bytecode + bci];
	if (java_op_calls(op))
		return fit;
	/* Where it works on the place of an instruction it is the collector, or it allocates. */
	if (is_of_reference(a) || makes_array(op))
		return ACCESS_FIT_BARRIER;
	return a->stores && java_op_stores_element(op) && is_in_loop(image, method, bci)
		   ? fit
		   : ACCESS_FIT_NONE;
}
