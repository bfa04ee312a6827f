/* What places are called. */
#include "tests/unit/support/test.h"

#include "attach/agent/jvm/place_names.h"
#include "tests/unit/support/agent/fake_fields.h"

static struct place_name name;

static int set_up(void **state)
{
	return fake_fields_setup(state);
}

static int tear_down(void **state)
{
	(void)state;
	place_name_release(&name);
	return 0;
}

/* The id that handlers would have given the class. */
static uint32_t met(uint64_t klass)
{
	struct klass k;

	assert_int_equal(klass_find(&fake_layout, &fake_regions, klass, &k), KLASS_FOUND);
	return k.id;
}

static bool resolve(const struct place *p)
{
	place_name_release(&name);
	return place_name_resolve(&fake_layout, &fake_regions, p, &name);
}

static void assert_name(Jxp__Location__Kind kind, const char *class_name, const char *field,
			const char *type)
{
	assert_int_equal(name.kind, kind);
	assert_string_equal(name.class_name, class_name);
	if (field)
		assert_string_equal(name.field, field);
	else
		assert_null(name.field);
	if (type)
		assert_string_equal(name.type, type);
	else
		assert_null(name.type);
}

static void assert_layout(uint32_t offset, uint32_t bytes, uint32_t object_bytes)
{
	assert_int_equal(name.offset, offset);
	assert_int_equal(name.bytes, bytes);
	assert_int_equal(name.object_bytes, object_bytes);
}

TEST(fields_and_headers_have_a_layout, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 20, .words = 3};

	fake_list_as_since_21();
	p.klass = met(fake_klass);
	assert_true(resolve(&p));
	assert_string_equal(name.field, "x");
	assert_layout(16, 8, 24); /* Of the field, not of the access. */
	p.offset = 8;
	assert_true(resolve(&p));
	assert_string_equal(name.field, "class");
	assert_layout(8, 4, 24);
	p.offset = 0;
	assert_true(resolve(&p));
	assert_layout(0, 8, 24);
	p.words = UINT32_MAX; /* Too large to tell. */
	assert_true(resolve(&p));
	assert_layout(0, 0, 0);
}

TEST(fields_have_class_name_and_type, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 16};

	fake_list_as_since_21();
	p.klass = met(fake_klass);
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__FIELD, "org.Point", "x", "double");
	assert_string_equal(name.declared_in, "org.Point");
	assert_true(name.typed);
	assert_int_equal(name.element, ELEMENT_FLOAT64);
	p.offset = 12;
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__FIELD, "org.Point", "next", "Node");
	assert_int_equal(name.element, ELEMENT_INTEGER);
}

TEST(a_superclass_declares_its_fields, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 16};
	uint64_t subclass;

	fake_list_as_since_21();
	subclass = fake_klass_add(FAKE_INSTANCE(40), 0x200);
	fake_name(0, "org/Point3");
	fake_klass_of(subclass)->name = (uintptr_t)&fake_symbols[0];
	fake_klass_of(subclass)->super = fake_klass;
	p.klass = met(subclass);
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__FIELD, "org.Point3", "x", "double");
	assert_string_equal(name.declared_in, "org.Point");
}

TEST(headers_have_parts, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT};

	fake_list_as_since_21();
	p.klass = met(fake_klass);
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__HEADER, "org.Point", "mark", NULL);
	p.offset = 8;
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__HEADER, "org.Point", "class", NULL);
}

TEST(arrays_have_elements_and_a_length, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 800, .element = true};
	uint64_t doubles;

	fake_list_as_since_21();
	doubles = fake_klass_add(FAKE_ARRAY(16, FAKE_T_DOUBLE, 3), 0x200);
	fake_name(0, "[D");
	fake_klass_of(doubles)->name = (uintptr_t)&fake_symbols[0];
	p.klass = met(doubles);
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__ELEMENT, "double[]", NULL, "double");
	assert_int_equal(name.element, ELEMENT_FLOAT64);
	p = (struct place){
	    .kind = PLACE_OBJECT, .klass = p.klass, .offset = fake_layout.array_length};
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__HEADER, "double[]", "length", NULL);
	assert_layout(0, 0, 0);
}

TEST(static_fields_belong_to_the_class_that_a_mirror_stands_for, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 112};
	uint64_t mirrors;

	fake_list_as_since_21();
	mirrors = fake_klass_add(FAKE_INSTANCE(96), 0x200);
	fake_name(0, "java/lang/Class");
	fake_klass_of(mirrors)->name = (uintptr_t)&fake_symbols[0];
	p.klass = met(mirrors);
	p.subject = met(fake_klass);
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__STATIC, "org.Point", "count", "long");
}

TEST(what_has_no_name_has_its_class, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 28};

	fake_list_as_since_21();
	p.klass = met(fake_klass);
	assert_true(resolve(&p));
	assert_name(JXP__LOCATION__KIND__UNKNOWN, "org.Point", NULL, NULL);
	assert_false(name.typed);
}

TEST(hidden_classes_are_named_as_elsewhere, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 16};

	fake_list_as_since_21();
	fake_name(7, "A$$Lambda+0x00007f3c");
	p.klass = met(fake_klass);
	assert_true(resolve(&p));
	assert_string_equal(name.class_name, "A$$Lambda.0x00007f3c");
}

TEST(a_class_that_has_gone_has_no_name, set_up, tear_down)
{
	struct place p = {.kind = PLACE_OBJECT, .offset = 16};

	fake_list_as_since_21();
	p.klass = met(fake_klass);
	memset(fake_heap, 0, FAKE_HEAP_BYTES); /* And its mirror. */
	assert_false(resolve(&p));
	memset(fake_class_space, 0, FAKE_KLASS_BYTES);
	assert_false(resolve(&p));
}
