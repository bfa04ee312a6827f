#include "attach/agent/jvm/pool_facts.h"

#include "attach/agent/jvm/vmstructs.h"

static bool offset_of(const char *type, const char *field, uint32_t *out)
{
	uint64_t offset;

	if (!vmstructs_offset(type, field, &offset) || offset > UINT16_MAX)
		return false;
	*out = (uint32_t)offset;
	return true;
}

static bool size_of(const char *type, uint32_t *out)
{
	uint64_t size;

	if (!vmstructs_type_size(type, &size) || size > UINT16_MAX)
		return false;
	*out = (uint32_t)size;
	return true;
}

/* The JVM's own table says the index alone of either: before it are, in a field's, its class, an
 * int and 16 bits; in a method's the Method and a word (resolvedFieldEntry.hpp,
 * resolvedMethodEntry.hpp).
 */
static bool read_split(struct pool_layout *l)
{
	struct resolved_layout *f = &l->fields, *m = &l->methods;

	m->other = sizeof(uint64_t);
	return offset_of("ConstantPoolCache", "_resolved_field_entries", &f->list) &&
	       offset_of("ConstantPoolCache", "_resolved_method_entries", &m->list) &&
	       offset_of("Array<ResolvedFieldEntry>", "_data", &f->data) &&
	       offset_of("Array<ResolvedMethodEntry>", "_data", &m->data) &&
	       size_of("ResolvedFieldEntry", &f->bytes) &&
	       size_of("ResolvedMethodEntry", &m->bytes) &&
	       offset_of("ResolvedFieldEntry", "_cpool_index", &f->entry) &&
	       offset_of("ResolvedMethodEntry", "_cpool_index", &m->entry) && f->entry == 14 &&
	       m->entry == m->other + sizeof(uint64_t);
}

/* Behind the cache itself. */
static bool read_joint(struct pool_layout *l)
{
	struct resolved_layout *f = &l->fields;

	if (!size_of("ConstantPoolCache", &f->data) ||
	    !size_of("ConstantPoolCacheEntry", &f->bytes) ||
	    !offset_of("ConstantPoolCache", "_length", &l->cache_length) ||
	    !offset_of("ConstantPoolCacheEntry", "_indices", &f->entry) ||
	    !offset_of("ConstantPoolCacheEntry", "_f1", &f->klass) ||
	    !offset_of("ConstantPoolCacheEntry", "_f2", &f->other))
		return false;
	l->methods = l->fields;
	return true;
}

static bool read_pool(struct pool_layout *l)
{
	return offset_of("ConstantPool", "_tags", &l->tags) &&
	       offset_of("ConstantPool", "_cache", &l->cache) &&
	       offset_of("ConstantPool", "_resolved_klasses", &l->classes) &&
	       offset_of("ConstantPoolCache", "_constant_pool", &l->cache_pool) &&
	       (l->split ? read_split(l) : read_joint(l));
}

static bool read_class(struct pool_layout *l)
{
	return offset_of("Klass", "_super", &l->super) &&
	       offset_of("Klass", "_subklass", &l->subklass) &&
	       offset_of("Klass", "_next_sibling", &l->sibling) &&
	       offset_of("Klass", "_super_check_offset", &l->super_check) &&
	       offset_of("Klass", "_secondary_super_cache", &l->secondary_cache) &&
	       offset_of("Klass", "_secondary_supers", &l->secondaries) &&
	       offset_of("Klass", "_primary_supers[0]", &l->primaries) &&
	       offset_of("InstanceKlass", "_methods", &l->klass_methods) &&
	       size_of("InstanceKlass", &l->vtable) &&
	       offset_of("Method", "_vtable_index", &l->vtable_index);
}

void pool_facts_read(struct pool_layout *out)
{
	struct pool_layout l = {0};
	uint32_t ignored;

	l.split = offset_of("ConstantPoolCache", "_resolved_method_entries", &ignored);
	l.known = read_pool(&l) && read_class(&l) &&
		  offset_of("Array<u1>", "_data", &l.bytes_data) &&
		  offset_of("Array<Klass*>", "_data", &l.klasses_data) &&
		  offset_of("Array<Method*>", "_data", &l.methods_data);
	if (!offset_of("Method", "_intrinsic_id", &l.intrinsic))
		l.intrinsic = 0;
	*out = l;
}
