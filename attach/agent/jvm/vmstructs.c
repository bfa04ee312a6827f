#include "attach/agent/jvm/vmstructs.h"

#include <dlfcn.h>
#include <string.h>

#include "attach/agent/code/safe_read.h"

/* On x86-64 ZGC's heap views lie between 4 TiB and 64 TiB (zGlobals_x86.cpp, zAddress.cpp), far
 * below anything that mmap chooses by itself. */
#define ZGC_LOW  (UINT64_C(1) << 42)
#define ZGC_HIGH (UINT64_C(1) << 46)

/* The base of compressed class pointers is that of the CDS archive where there is one, which is
 * mapped below the class space; so the range from the base on is longer than the space by the
 * archive, at most this much. */
#define CDS_ARCHIVE_MAX (UINT64_C(256) << 20)

struct vmstruct_entry {
	const char *type;
	const char *field;
	bool is_static;
	uint64_t offset;
	void *address;
};

void *vmstructs_symbol(const char *name)
{
	static void *libjvm;

	if (!libjvm)
		libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
	return dlsym(libjvm ? libjvm : RTLD_DEFAULT, name);
}

static bool number_of(const char *symbol, uint64_t *value)
{
	const uint64_t *p = vmstructs_symbol(symbol);

	if (!p)
		return false;
	*value = *p;
	return true;
}

/* The shape of one table row, which the JVM exports so that readers need not know it. */
struct row_layout {
	uint64_t stride, type, field, is_static, offset, address;
};

static bool row_layout(struct row_layout *l)
{
	return number_of("gHotSpotVMStructEntryArrayStride", &l->stride) &&
	       number_of("gHotSpotVMStructEntryTypeNameOffset", &l->type) &&
	       number_of("gHotSpotVMStructEntryFieldNameOffset", &l->field) &&
	       number_of("gHotSpotVMStructEntryIsStaticOffset", &l->is_static) &&
	       number_of("gHotSpotVMStructEntryOffsetOffset", &l->offset) &&
	       number_of("gHotSpotVMStructEntryAddressOffset", &l->address);
}

static bool find(const char *type, const char *field, struct vmstruct_entry *out)
{
	char *const *table = vmstructs_symbol("gHotSpotVMStructs");
	struct row_layout l;

	if (!table || !*table || !row_layout(&l))
		return false;
	for (const char *row = *table;; row += l.stride) {
		const char *t = *(char *const *)(row + l.type);
		const char *f = *(char *const *)(row + l.field);

		if (!t || !f)
			return false;
		if (strcmp(t, type) != 0 || strcmp(f, field) != 0)
			continue;
		*out =
		    (struct vmstruct_entry){.type = t,
					    .field = f,
					    .is_static = *(const int32_t *)(row + l.is_static) != 0,
					    .offset = *(const uint64_t *)(row + l.offset),
					    .address = *(void *const *)(row + l.address)};
		return true;
	}
}

bool vmstructs_available(void)
{
	struct vmstruct_entry e;

	return find("Universe", "_collectedHeap", &e);
}

const uint64_t *vmstructs_static(const char *type, const char *field)
{
	struct vmstruct_entry e;

	return find(type, field, &e) && e.is_static ? e.address : NULL;
}

bool vmstructs_static_word(const char *type, const char *field, uint64_t *value)
{
	struct vmstruct_entry e;

	return find(type, field, &e) && e.is_static && e.address &&
	       safe_read((uintptr_t)e.address, value, sizeof(*value));
}

/* The word in a field of the object at address. */
bool vmstructs_field_word(uint64_t address, const char *type, const char *field, uint64_t *value)
{
	struct vmstruct_entry e;

	return address && find(type, field, &e) && !e.is_static &&
	       safe_read(address + e.offset, value, sizeof(*value));
}

bool vmstructs_offset(const char *type, const char *field, uint64_t *offset)
{
	struct vmstruct_entry e;

	if (!find(type, field, &e) || e.is_static)
		return false;
	*offset = e.offset;
	return true;
}

/* The row called name in one of the JVM's other tables, or NULL. */
static const char *row_of(const char *table_symbol, const char *stride_symbol,
			  const char *name_offset_symbol, const char *name)
{
	char *const *table = vmstructs_symbol(table_symbol);
	uint64_t stride, offset;

	if (!table || !*table || !number_of(stride_symbol, &stride) ||
	    !number_of(name_offset_symbol, &offset))
		return NULL;
	for (const char *row = *table;; row += stride) {
		const char *n = *(char *const *)(row + offset);

		if (!n)
			return NULL;
		if (strcmp(n, name) == 0)
			return row;
	}
}

bool vmstructs_int_constant(const char *name, int32_t *value)
{
	const char *row = row_of("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
				 "gHotSpotVMIntConstantEntryNameOffset", name);
	uint64_t offset;

	if (!row || !number_of("gHotSpotVMIntConstantEntryValueOffset", &offset))
		return false;
	*value = *(const int32_t *)(row + offset);
	return true;
}

bool vmstructs_long_constant(const char *name, uint64_t *value)
{
	const char *row =
	    row_of("gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
		   "gHotSpotVMLongConstantEntryNameOffset", name);
	uint64_t offset;

	if (!row || !number_of("gHotSpotVMLongConstantEntryValueOffset", &offset))
		return false;
	*value = *(const uint64_t *)(row + offset);
	return true;
}

bool vmstructs_code_cache(uint64_t *low, uint64_t *high)
{
	uint64_t l, h;

	if (!vmstructs_static_word("CodeCache", "_low_bound", &l) ||
	    !vmstructs_static_word("CodeCache", "_high_bound", &h) || l >= h)
		return false;
	*low = l;
	*high = h;
	return true;
}

/* ---------------------------------------------------------------- flags */

bool vmstructs_type_size(const char *type, uint64_t *size)
{
	const char *row = row_of("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
				 "gHotSpotVMTypeEntryTypeNameOffset", type);
	uint64_t offset;

	if (!row || !number_of("gHotSpotVMTypeEntrySizeOffset", &offset))
		return false;
	*size = *(const uint64_t *)(row + offset);
	return true;
}

/* The address of a VM flag's value (JVMFlag::flags). */
static uint64_t flag_address(const char *flag)
{
	uint64_t flags, count, size;
	struct vmstruct_entry name, address;

	if (!vmstructs_static_word("JVMFlag", "flags", &flags) ||
	    !vmstructs_static_word("JVMFlag", "numFlags", &count) ||
	    !vmstructs_type_size("JVMFlag", &size) || !find("JVMFlag", "_name", &name) ||
	    !find("JVMFlag", "_addr", &address))
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		const char *row = (const char *)(uintptr_t)(flags + i * size);
		const char *n = *(char *const *)(row + name.offset);

		if (n && strcmp(n, flag) == 0)
			return *(const uint64_t *)(row + address.offset);
	}
	return 0;
}

bool vmstructs_flag(const char *flag)
{
	uint64_t address = flag_address(flag);
	bool value = false;

	return address && safe_read(address, &value, sizeof(value)) && value;
}

const char *vmstructs_gc(void)
{
	static const struct {
		const char *flag, *name;
	} collectors[] = {
	    {"UseG1GC", "G1"}, {"UseParallelGC", "Parallel"},     {"UseSerialGC", "Serial"},
	    {"UseZGC", "ZGC"}, {"UseShenandoahGC", "Shenandoah"}, {"UseEpsilonGC", "Epsilon"},
	};

	for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++)
		if (vmstructs_flag(collectors[i].flag))
			return collectors[i].name;
	return "";
}

uint64_t vmstructs_max_heap(void)
{
	uint64_t address = flag_address("MaxHeapSize"), size = 0;

	return address && safe_read(address, &size, sizeof(size)) ? size : 0;
}

bool vmstructs_always_pretouch(void)
{
	return vmstructs_flag("AlwaysPreTouch");
}

/* ---------------------------------------------------------------- ZGC */

/* ZGlobalsForVMStructs holds pointers to the globals; JDK 21 to 23 have the collector without
 * generations under another name. */
static bool zgc_global(const char *z_name, const char *x_name, uint64_t *pointer)
{
	uint64_t instance;

	if (vmstructs_static_word("ZGlobalsForVMStructs", "_instance_p", &instance) &&
	    vmstructs_field_word(instance, "ZGlobalsForVMStructs", z_name, pointer) && *pointer)
		return true;
	return x_name && vmstructs_static_word("XGlobalsForVMStructs", "_instance_p", &instance) &&
	       vmstructs_field_word(instance, "XGlobalsForVMStructs", x_name, pointer) && *pointer;
}

/* Does the state of a pointer lie in bits of the address itself, that is, in the mapping? */
static bool zgc_has_views(void)
{
	uint64_t shift;

	return strcmp(vmstructs_gc(), "ZGC") == 0 &&
	       (flag_address("ZGenerational") ? !vmstructs_flag("ZGenerational")
					      : !zgc_global("_ZPointerLoadShift", NULL, &shift));
}

bool vmstructs_zgc_is_generational(void)
{
	return strcmp(vmstructs_gc(), "ZGC") == 0 && !zgc_has_views();
}

bool vmstructs_zgc_pointers(const uint64_t **bad_mask, const uint64_t **shift)
{
	static const uint64_t no_shift;
	uint64_t bad, shift_at = (uintptr_t)&no_shift;

	if (strcmp(vmstructs_gc(), "ZGC") != 0)
		return false;
	if (zgc_has_views()) {
		/* Weak: an address in the view of relocated objects is right during marking, too.
		 */
		if (!zgc_global("_ZAddressWeakBadMask", "_XAddressWeakBadMask", &bad))
			return false;
	} else if (!zgc_global("_ZPointerLoadBadMask", NULL, &bad) ||
		   !zgc_global("_ZPointerLoadShift", NULL, &shift_at)) {
		return false;
	}
	*bad_mask = (const uint64_t *)(uintptr_t)bad;
	*shift = (const uint64_t *)(uintptr_t)shift_at;
	return true;
}

/* The views of the heap (zGlobals_x86.cpp): offset bits, and above them one bit for each. */
static void add_views(struct region_map *map)
{
	uint64_t at, mask;

	if (!zgc_has_views())
		return;
	/* JDK 11 does not tell; its heap is at most 4 TiB. */
	if (!zgc_global("_ZAddressOffsetMask", "_XAddressOffsetMask", &at) ||
	    !safe_read(at, &mask, sizeof(mask)) || !mask)
		mask = ZGC_LOW - 1;
	map->offset_mask = mask;
	map->view = mask + 1;
}

/* ---------------------------------------------------------------- regions */

static void add_heap(struct region_map *map)
{
	uint64_t heap, start, words;
	struct vmstruct_entry reserved;

	if (strcmp(vmstructs_gc(), "ZGC") == 0) {
		(void)region_add_heap(map, ZGC_LOW,
				      ZGC_HIGH); /* The table has room: first entry. */
		add_views(map);
		return;
	}
	if (!vmstructs_static_word("Universe", "_collectedHeap", &heap) ||
	    !find("CollectedHeap", "_reserved", &reserved) ||
	    !vmstructs_field_word(heap + reserved.offset, "MemRegion", "_start", &start) ||
	    !vmstructs_field_word(heap + reserved.offset, "MemRegion", "_word_size", &words))
		return;
	(void)region_add_heap(map, start, start + words * sizeof(void *));
}

static void add_card_table(struct region_map *map)
{
	uint64_t barrier_set, table, bytes, size;

	/* Only collectors with a card table have these fields filled; others read as nonsense that
	 * fails one of the reads or the range check. */
	if (strcmp(vmstructs_gc(), "ZGC") == 0 || strcmp(vmstructs_gc(), "Shenandoah") == 0 ||
	    strcmp(vmstructs_gc(), "Epsilon") == 0)
		return;
	if (!vmstructs_static_word("BarrierSet", "_barrier_set", &barrier_set) ||
	    !vmstructs_field_word(barrier_set, "CardTableBarrierSet", "_card_table", &table) ||
	    !vmstructs_field_word(table, "CardTable", "_byte_map", &bytes) ||
	    !vmstructs_field_word(table, "CardTable", "_byte_map_size", &size) ||
	    size > UINT64_C(1) << 40)
		return;
	(void)region_add_jvm(map, bytes, bytes + size);
}

static void add_class_space(struct region_map *map)
{
	uint64_t base, size = 0, address = flag_address("CompressedClassSpaceSize");

	if (!vmstructs_static_word("CompressedKlassPointers", "_narrow_klass._base", &base) &&
	    !vmstructs_static_word("CompressedKlassPointers", "_base", &base))
		return;
	if (base && address && safe_read(address, &size, sizeof(size)))
		(void)region_add_jvm(map, base, base + size + CDS_ARCHIVE_MAX);
}

void vmstructs_regions(struct region_map *map)
{
	uint64_t low, high;

	memset(map, 0, sizeof(*map));
	add_heap(map);
	if (vmstructs_code_cache(&low, &high))
		(void)region_add_jvm(map, low, high);
	add_card_table(map);
	add_class_space(map);
}
