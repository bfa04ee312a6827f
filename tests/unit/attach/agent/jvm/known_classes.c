/* Classes that every JVM has, found in its tables and in the boot loader's list. */
#include "tests/unit/support/test.h"

#include "attach/agent/code/safe_read.h"
#include "attach/agent/jvm/known_classes.h"
#include "tests/unit/support/agent/fake_vmstructs.h"

struct klass {
	int32_t layout;
	const void *name;
	struct klass *next;
	const void *loader, *arrays;
};

static struct {
	int32_t other;
	uint16_t length;
	char body[32];
} names[] = {{0, 27, "java/lang/ref/WeakReferencf"},
	     {0, 27, "java/lang/ref/WeakReference"},
	     {0, 6, "Object"}};

/* Arrays of objects, of bytes, of booleans; other classes. */
#define OF_OBJECTS  ((int32_t)0x80100c02)
#define OF_BYTES    ((int32_t)0xc0100800)
#define OF_BOOLEANS ((int32_t)0xc0100400)

static struct klass list[] = {
    {.layout = 16, .name = &names[0], .next = &list[1]},
    {.layout = OF_BYTES, .next = &list[2]},
    {.layout = OF_OBJECTS, .name = &names[1], .next = &list[3]},
    {.layout = 24, .name = &names[1], .next = &list[4]},
    {.layout = OF_BOOLEANS, .next = &list[5]},
    {.layout = 16, .name = &names[2]},
};
static struct klass *object = &list[5], *head = list;

static void tell(void)
{
	fake_field("Klass", "_layout_helper", offsetof(struct klass, layout));
	fake_field("Klass", "_name", offsetof(struct klass, name));
	fake_field("Klass", "_next_link", offsetof(struct klass, next));
	fake_field("Klass", "_class_loader_data", offsetof(struct klass, loader));
	fake_field("InstanceKlass", "_array_klasses", offsetof(struct klass, arrays));
	fake_field("ClassLoaderData", "_klasses", 0);
	fake_field("Symbol", "_length", 4);
	fake_field("Symbol", "_body", 6);
	list[5].loader = &head;
	list[5].arrays = &list[2];
}

static int set_up(void **state)
{
	(void)state;
	fake_vmstructs_reset();
	return safe_read_init();
}

TEST(both_tables_name_classes, set_up)
{
	static uint64_t old = 16, new = 32;

	assert_int_equal(known_class("String"), 0);
	fake_static("SystemDictionary", "_well_known_klasses[SystemDictionary::String_klass_knum]",
		    &old);
	assert_int_equal(known_class("String"), 16);
	fake_static("vmClasses", "_klasses[static_cast<int>(vmClassID::String_klass_knum)]", &new);
	assert_int_equal(known_class("String"), 32);
}

TEST(the_boot_loader_s_list_has_the_others, set_up)
{
	struct known_classes known;

	tell();
	fake_static("vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]",
		    &object);
	known_classes_find(&known);
	assert_int_equal(known.object, (uintptr_t)&list[5]);
	assert_int_equal(known.string, 0);
	assert_int_equal(known.objects, (uintptr_t)&list[2]);
	assert_int_equal(known.strings, 0);
	assert_int_equal(known.weak_reference, (uintptr_t)&list[3]);
	assert_int_equal(known.primitives[0], (uintptr_t)&list[4]);
	assert_int_equal(known.primitives[4], (uintptr_t)&list[1]);
	assert_int_equal(known.primitives[1], 0);
}
