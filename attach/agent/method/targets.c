#include "attach/agent/method/targets.h"

#include <string.h>

#include "common/code/java_op.h"

/* Java's flags (JVMS table 4.6-A). */
enum { FLAG_PRIVATE = 0x2, FLAG_FINAL = 0x10, FLAG_NATIVE = 0x100, FLAG_ABSTRACT = 0x400 };

/* Deeper hierarchies, and larger classes, nobody reads. */
#define SUPERS_MAX           64u
#define METHODS_MAX_OF_CLASS 65535u
#define SECONDARIES_MAX      256u

/* So many subclasses of one class are looked at. */
#define SUBCLASSES_MAX 8u

/* VarHandle has more, with few methods each. */
#define HANDLE_CLASSES_MAX 64u

/* The longest descriptor of a VarHandle's call; nobody looks for a longer one. */
#define DESCRIPTOR_MAX  256u
#define VARIABLE_HANDLE "java/lang/invoke/VarHandle"
#define OF_HANDLE       "(L" VARIABLE_HANDLE ";"
#define OBJECT          "Ljava/lang/Object;"

/* Primary supers of a class (Klass::_primary_super_limit). */
#define PRIMARIES 8u

/* This is asked for. */
struct asking {
	const struct pool_reader *reader;
	const struct pool_layout *layout;
	uint64_t name, descriptor;
	uint64_t *out;
	unsigned count; /* of different ones; above TARGETS_MAX: there are too many */
	bool selected;  /* by classes that the code names */
};

static bool read_at(const struct asking *a, uint64_t address, void *to, size_t size)
{
	return page_read(a->reader->pages, address, to, size);
}

static uint64_t word_at(const struct asking *a, uint64_t address)
{
	uint64_t value;

	return read_at(a, address, &value, sizeof(value)) ? value : 0;
}

/* ---------------------------------------------------------------- methods */

struct target_names {
	uint64_t const_method, name, descriptor;
};

static bool names_of(const struct asking *a, uint64_t method, struct target_names *out)
{
	const struct method_layout *l = a->reader->layout;
	uint16_t name, descriptor;
	uint64_t pool;

	out->const_method = method ? word_at(a, method + l->method_const) : 0;
	pool = out->const_method ? word_at(a, out->const_method + l->const_constants) : 0;
	if (!pool || !read_at(a, out->const_method + l->const_name, &name, sizeof(name)) ||
	    !read_at(a, out->const_method + l->const_signature, &descriptor, sizeof(descriptor)))
		return false;
	out->name = word_at(a, pool + l->pool_bytes + name * sizeof(uint64_t));
	out->descriptor = word_at(a, pool + l->pool_bytes + descriptor * sizeof(uint64_t));
	return true;
}

static bool is_asked_for(const struct asking *a, uint64_t method)
{
	struct target_names n;

	return names_of(a, method, &n) && n.name == a->name && n.descriptor == a->descriptor;
}

static uint16_t flags_of(const struct asking *a, uint64_t method)
{
	uint16_t flags;

	return read_at(a, method + a->reader->layout->method_flags, &flags, sizeof(flags))
		   ? flags
		   : FLAG_ABSTRACT;
}

/* May it have been inlined? */
static bool may_be_inlined(const struct asking *a, uint64_t method)
{
	const struct method_layout *l = a->reader->layout;
	uint64_t const_method = word_at(a, method + l->method_const);
	uint16_t size;

	return !(flags_of(a, method) & (FLAG_NATIVE | FLAG_ABSTRACT)) && const_method &&
	       read_at(a, const_method + l->const_code_size, &size, sizeof(size)) && size > 0 &&
	       size <= TARGET_CODE_MAX;
}

/* One more of those that it may lead to. */
static void found(struct asking *a, uint64_t method)
{
	unsigned kept = a->count < TARGETS_MAX ? a->count : TARGETS_MAX;

	if (!method || flags_of(a, method) & FLAG_ABSTRACT)
		return;
	for (unsigned i = 0; i < kept; i++)
		if (a->out[i] == method)
			return;
	if (a->count < TARGETS_MAX)
		a->out[a->count] = method;
	a->count++;
}

/* ---------------------------------------------------------------- classes */

/* Searches a class's own methods, which ascend by the addresses of their names. The first with that
 * name where no descriptor is asked for. */
static uint64_t own_method(const struct asking *a, uint64_t klass)
{
	uint64_t list = word_at(a, klass + a->layout->klass_methods), first;
	uint32_t length, low = 0, high;

	if (!list || !read_at(a, list, &length, sizeof(length)) || length > METHODS_MAX_OF_CLASS)
		return 0;
	first = list + a->layout->methods_data;
	high = length;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct target_names n;

		if (!names_of(a, word_at(a, first + middle * sizeof(uint64_t)), &n))
			return 0;
		if (n.name < a->name)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < length; low++) {
		uint64_t method = word_at(a, first + low * sizeof(uint64_t));
		struct target_names n;

		if (!names_of(a, method, &n) || n.name != a->name)
			return 0;
		if (n.descriptor == a->descriptor || !a->descriptor)
			return method;
	}
	return 0;
}

/* Searches those of its superclasses. */
static uint64_t inherited_method(const struct asking *a, uint64_t klass)
{
	for (unsigned i = 0; klass && i < SUPERS_MAX; i++) {
		uint64_t method = own_method(a, klass);

		if (method)
			return method;
		klass = word_at(a, klass + a->layout->super);
	}
	return 0;
}

/* The one in a class's table of virtual methods, if it is what is asked for. */
static uint64_t virtual_method(const struct asking *a, uint64_t klass, int32_t index)
{
	uint64_t method =
	    word_at(a, klass + a->layout->vtable + (uint64_t)index * sizeof(uint64_t));

	if (a->count > 0 && method == a->out[0])
		return method; /* Most often it is inherited. */
	return method && is_asked_for(a, method) ? method : 0;
}

static uint32_t super_check(const struct asking *a, uint64_t klass)
{
	uint32_t offset;

	return read_at(a, klass + a->layout->super_check, &offset, sizeof(offset)) ? offset : 0;
}

/* Is it one, and no interface? A class stands among its own primary supers. */
static bool is_class(const struct asking *a, uint64_t address)
{
	uint32_t offset = address % sizeof(uint64_t) == 0 ? super_check(a, address) : 0;

	return offset >= a->layout->primaries &&
	       offset < a->layout->primaries + PRIMARIES * sizeof(uint64_t) &&
	       word_at(a, address + offset) == address;
}

static bool has_secondary(const struct asking *a, uint64_t klass, uint64_t super)
{
	uint64_t list = word_at(a, klass + a->layout->secondaries);
	uint32_t length;

	if (!list || !read_at(a, list, &length, sizeof(length)) || length > SECONDARIES_MAX)
		return false;
	for (uint32_t i = 0; i < length; i++)
		if (word_at(a, list + a->layout->klasses_data + i * sizeof(uint64_t)) == super)
			return true;
	return false;
}

static bool is_subclass(const struct asking *a, uint64_t klass, uint64_t super)
{
	uint32_t offset = super_check(a, super);

	return offset == a->layout->secondary_cache ? has_secondary(a, klass, super)
						    : offset && word_at(a, klass + offset) == super;
}

/* ---------------------------------------------------------------- calls */

/* All that stand in its place in subclasses; false where these are too many to look at. */
static bool find_overriding(struct asking *a, uint64_t klass, int32_t index)
{
	uint64_t stack[SUBCLASSES_MAX];
	unsigned depth = 0, looked = 0;

	stack[depth++] = klass;
	while (depth > 0) {
		uint64_t at = stack[--depth], sub;

		found(a, virtual_method(a, at, index));
		if (a->count > TARGETS_MAX || ++looked > SUBCLASSES_MAX)
			return false;
		for (sub = word_at(a, at + a->layout->subklass); sub;
		     sub = word_at(a, sub + a->layout->sibling)) {
			if (depth == SUBCLASSES_MAX)
				return false;
			stack[depth++] = sub;
		}
	}
	return true;
}

/* Those of classes that the code names. */
static void find_selected(struct asking *a, uint64_t super, const uint64_t *classes, size_t count)
{
	a->count = 0;
	a->selected = true;
	for (size_t i = 0; i < count && a->count < TARGETS_MAX; i++)
		if (is_subclass(a, classes[i], super))
			found(a, inherited_method(a, classes[i]));
}

static void find_virtual(struct asking *a, uint64_t klass, uint64_t method, const uint64_t *classes,
			 size_t count)
{
	int32_t index;

	if (!read_at(a, method + a->layout->vtable_index, &index, sizeof(index)))
		return;
	if (index < 0 || flags_of(a, method) & (FLAG_PRIVATE | FLAG_FINAL))
		found(a, method); /* Nothing can stand in its place. */
	else if (!find_overriding(a, klass, index))
		find_selected(a, klass, classes, count);
}

/* An interface's own, where no class has another. */
static void find_of_interface(struct asking *a, uint64_t klass, uint64_t method,
			      const uint64_t *classes, size_t count)
{
	find_selected(a, klass, classes, count);
	if (a->count < TARGETS_MAX)
		found(a, method);
}

static unsigned keep_inlinable(const struct asking *a)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < a->count && i < TARGETS_MAX; i++)
		if (may_be_inlined(a, a->out[i]))
			a->out[kept++] = a->out[i];
	return kept;
}

/* Tells what is called, as the call was resolved; 0: it was not. Of a method handle's call it is
 * what that was linked to, which is called otherwise. */
static uint64_t resolved_method(const struct asking *a, const struct member_look *member,
				const struct reference *call)
{
	if (call->method || call->op != JAVA_INVOKEVIRTUAL || call->index < 0 || !member->klass)
		return call->method;
	return word_at(a, member->klass + a->layout->vtable +
			      (uint64_t)call->index * sizeof(uint64_t));
}

/* Tells what is called, before anything stands in its place: as it was resolved, or looked for,
 * which takes longer. */
static uint64_t named_method(const struct asking *a, const struct member_look *member,
			     const struct reference *call)
{
	uint64_t method = resolved_method(a, member, call);

	if (method && is_asked_for(a, method))
		return method;
	return member->klass ? inherited_method(a, member->klass) : 0;
}

/* ---------------------------------------------------------------- handles */

static bool is_symbol(const struct asking *a, uint64_t symbol, const char *text)
{
	char has[DESCRIPTOR_MAX];

	return reference_text(a->reader, symbol, has, sizeof(has)) > 0 && strcmp(has, text) == 0;
}

/* A handle's call is linked to a method that is not called so. */
static bool is_of_handle(const struct asking *a, const struct member_look *member,
			 const struct reference *call)
{
	return call->op == JAVA_INVOKEVIRTUAL && member->klass && call->method &&
	       !is_asked_for(a, call->method) &&
	       (is_symbol(a, member->class_name, VARIABLE_HANDLE) ||
		is_symbol(a, member->class_name, "java/lang/invoke/MethodHandle"));
}

/* Appends a type, all of whose classes and arrays are Object; what follows it, or NULL. */
static const char *erase_type(const char *type, char *to, size_t *length)
{
	const char *erased = strchr("L[", *type) ? OBJECT : NULL;
	size_t bytes = erased ? strlen(erased) : 1;
	const char *end = type + strspn(type, "[");

	if (!*type || *length + bytes >= DESCRIPTOR_MAX)
		return NULL;
	end = *end == 'L' ? strchr(end, ';') : end;
	if (!end || !*end)
		return NULL;
	memcpy(to + *length, erased ? erased : type, bytes);
	*length += bytes;
	to[*length] = '\0';
	return end + 1;
}

/* What a VarHandle's method is that does the work of a call with such a descriptor. */
static bool erase(const struct asking *a, char to[DESCRIPTOR_MAX])
{
	char from[DESCRIPTOR_MAX];
	const char *at = from + 1;
	size_t length = strlen(OF_HANDLE);

	if (reference_text(a->reader, a->descriptor, from, sizeof(from)) == 0 || from[0] != '(')
		return false;
	memcpy(to, OF_HANDLE, length + 1);
	while (at && *at != ')')
		at = erase_type(at, to, &length);
	if (!at || length + 1 >= DESCRIPTOR_MAX)
		return false;
	to[length++] = ')';
	return erase_type(at + 1, to, &length);
}

/* By its name alone, of which these classes have one each. */
static uint64_t with_descriptor(const struct asking *a, uint64_t klass, const char *descriptor)
{
	struct asking any = *a;
	struct target_names n;
	uint64_t method;

	any.descriptor = 0;
	method = own_method(&any, klass);
	return method && names_of(a, method, &n) && is_symbol(a, n.descriptor, descriptor) ? method
											   : 0;
}

/* VarHandle's subclasses have a method of the same name for each kind of variable. */
static void find_of_variable(struct asking *a, uint64_t klass)
{
	uint64_t stack[HANDLE_CLASSES_MAX];
	unsigned depth = 0, looked = 0;
	char descriptor[DESCRIPTOR_MAX];

	if (!erase(a, descriptor))
		return;
	stack[depth++] = klass;
	while (depth > 0 && looked++ < HANDLE_CLASSES_MAX) {
		uint64_t at = stack[--depth], sub;

		found(a, with_descriptor(a, at, descriptor));
		for (sub = word_at(a, at + a->layout->subklass); sub && depth < HANDLE_CLASSES_MAX;
		     sub = word_at(a, sub + a->layout->sibling))
			stack[depth++] = sub;
	}
}

static void find_of_handle(struct asking *a, uint64_t klass, uint64_t method)
{
	found(a, method);
	if (is_symbol(a, reference_class_name(a->reader, klass), VARIABLE_HANDLE))
		find_of_variable(a, klass);
}

size_t targets_classes(const struct pool_reader *r, const uint64_t *names, size_t count,
		       uint64_t *out)
{
	const struct asking a = {.reader = r, .layout = &r->layout->pools};
	size_t kept = 0;

	for (size_t i = 0; a.layout->known && i < count; i++)
		if (is_class(&a, names[i]))
			out[kept++] = names[i];
	return kept;
}

unsigned targets_of(const struct pool_reader *r, const struct member_look *member,
		    const struct reference *call, const uint64_t *classes, size_t count,
		    uint64_t out[TARGETS_MAX], bool *selected)
{
	struct asking a = {.reader = r,
			   .layout = &r->layout->pools,
			   .name = member->name,
			   .descriptor = member->descriptor,
			   .out = out};
	uint64_t method;

	*selected = false;
	if (!a.layout->known)
		return 0;
	if (is_of_handle(&a, member, call)) {
		find_of_handle(&a, member->klass, call->method);
		return keep_inlinable(&a);
	}
	method = named_method(&a, member, call);
	if (call->op == JAVA_INVOKEINTERFACE && member->klass)
		find_of_interface(&a, member->klass, method, classes, count);
	else if (call->op == JAVA_INVOKEVIRTUAL && member->klass && method)
		find_virtual(&a, member->klass, method, classes, count);
	else if (call->op == JAVA_INVOKESTATIC || call->op == JAVA_INVOKESPECIAL)
		found(&a, method);
	*selected = a.selected;
	return keep_inlinable(&a);
}

bool targets_own_code(const struct pool_reader *r, const struct member_look *member,
		      const struct reference *call, uint64_t *declares)
{
	const struct asking a = {.reader = r,
				 .layout = &r->layout->pools,
				 .name = member->name,
				 .descriptor = member->descriptor};
	uint64_t method = a.layout->known ? resolved_method(&a, member, call) : 0;
	struct target_names n;
	uint16_t id;

	*declares = 0;
	if (!method || a.layout->intrinsic == 0 ||
	    !read_at(&a, method + a.layout->intrinsic, &id, sizeof(id)))
		return false;
	if (id == 0)
		return is_of_handle(&a, member, call);
	if (!names_of(&a, method, &n) || n.name != a.name || n.descriptor != a.descriptor)
		return false;
	*declares = word_at(&a, word_at(&a, n.const_method + r->layout->const_constants) +
				    r->layout->pool_holder);
	return true;
}
