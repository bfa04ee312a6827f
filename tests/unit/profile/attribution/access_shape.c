/* What machine code tells of an access, and which bytecodes can have become one. */
#include "tests/unit/support/test.h"

#include "profile/attribution/access_shape.h"
#include "tests/unit/support/code_file.h"

/* ---------------------------------------------------------------- instructions */

/* Of the first instruction of some code, which goes on with: ret. */
static struct access_shape shape_of(const char *hex)
{
	struct access_shape shape;
	struct code_image image;
	struct native_code n;
	char text[128];

	(void)snprintf(text, sizeof(text), "image 10000 %zu 0\nbytes %sc3\nmethod 0 m b1\n",
		       strlen(hex) / 2 + 1, hex);
	assert_true(code_file_read_text(&image, text));
	assert_int_equal(native_code_make(&n, &image), 0);
	assert_non_null(native_insn_at(&n, 0));
	shape = access_shape_of(&n, native_insn_at(&n, 0));
	native_code_release(&n);
	code_image_release(&image);
	return shape;
}

static void assert_shape(const char *hex, unsigned size, int displacement, bool stores,
			 bool indexed)
{
	struct access_shape s = shape_of(hex);

	assert_int_equal(s.size, size);
	assert_int_equal(s.displacement, displacement);
	assert_int_equal(s.stores, stores);
	assert_int_equal(s.indexed, indexed);
}

TEST(an_access_has_a_size_and_a_place)
{
	assert_shape("8b460c", 4, 0xc, false, false);          /* mov eax, [rsi+0xc] */
	assert_shape("488b4610", 8, 0x10, false, false);       /* mov rax, [rsi+0x10] */
	assert_shape("0fb6460c", 1, 0xc, false, false);        /* movzx eax, byte [rsi+0xc] */
	assert_shape("66894e0e", 2, 0xe, true, false);         /* mov [rsi+0xe], cx */
	assert_shape("8b448610", 4, 0x10, false, true);        /* mov eax, [rsi+rax*4+0x10] */
	assert_shape("ff4614", 4, 0x14, true, false);          /* inc dword [rsi+0x14] */
	assert_shape("c5fe6f4610", 32, 0x10, false, false);    /* vmovdqu ymm0, [rsi+0x10] */
	assert_shape("8b86f0feffff", 4, -0x110, false, false); /* mov eax, [rsi-0x110] */
}

TEST(what_is_no_object_s_has_none)
{
	static const char *const none[] = {
	    "01c8",           /* add eax, ecx */
	    "8b442408",       /* mov eax, [rsp+8] */
	    "498b8718010000", /* mov rax, [r15+0x118] */
	    "488b0500010000", /* mov rax, [rip+0x100] */
	    "418502",         /* test [r10], eax: a poll */
	    "8b0425f0ff0000", /* mov eax, [0xfff0] */
	    "8b8600000100",   /* mov eax, [rsi+0x10000]: further than a field */
	    "f3a5",           /* rep movsd */
	    "e800010000",     /* call */
	};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (shape_of(none[i]).size != 0)
			fail_msg("%s has a shape", none[i]);
}

/* ---------------------------------------------------------------- bytecodes */

/* A method that gets and puts fields of four types, one after the other. */
#define FIELDS                                                                     \
	"image 10000 1 0\nbytes c3\n"                                              \
	"method 0 fields b40001b50001b40002b50002b40003b50003b40004b50004b20004\n" \
	"member X z Z -\nmember X c C -\nmember X i I -\nmember X o LX; -\n"       \
	"reference 0 0 0\nreference 0 3 0\nreference 0 6 1\nreference 0 9 1\n"     \
	"reference 0 12 2\nreference 0 15 2\nreference 0 18 3\nreference 0 21 3\n" \
	"reference 0 24 3\n"

static const struct code_image *fields(void)
{
	static struct code_image image;

	if (!image.methods)
		assert_true(code_file_read_text(&image, FIELDS));
	return &image;
}

static bool is_field(uint32_t bci, struct access_shape shape)
{
	return access_shape_fits(fields(), 0, bci, &shape) == ACCESS_FIT;
}

TEST(a_field_has_the_size_of_its_type)
{
	const struct access_shape byte = {1, 0xc, false, false}, two = {2, 0xc, false, false},
				  four = {4, 0xc, false, false}, eight = {8, 0x10, false, false};

	assert_true(is_field(0, byte));
	assert_false(is_field(0, two));
	assert_true(is_field(6, two));
	assert_false(is_field(6, byte));
	assert_true(is_field(12, four));
	assert_false(is_field(12, eight));
	/* References may be narrow or not. */
	assert_true(is_field(18, four));
	assert_true(is_field(18, eight));
	assert_false(is_field(18, two));
	assert_true(is_field(24, four)); /* getstatic */
}

TEST(a_field_is_no_element_and_not_in_the_mark)
{
	assert_false(is_field(12, (struct access_shape){4, 0xc, false, true}));
	assert_false(is_field(12, (struct access_shape){4, 4, false, false}));
	assert_true(is_field(12, (struct access_shape){4, 8, false, false})); /* compact headers */
}

TEST(loads_are_not_stores)
{
	const struct access_shape store = {4, 0xc, true, false}, load = {4, 0xc, false, false};

	assert_true(is_field(15, store));
	assert_false(is_field(15, load));
	assert_false(is_field(12, store));
	assert_false(is_field(0xffff, load)); /* There is no such bytecode. */
}

/* The fit of an instruction that is alone in a method. */
static enum access_fit fit_of(const char *hex, struct access_shape shape)
{
	struct code_image image;
	enum access_fit fit;
	char text[128];

	(void)snprintf(text, sizeof(text), "image 10000 1 0\nbytes c3\nmethod 0 m %s\n", hex);
	assert_true(code_file_read_text(&image, text));
	fit = access_shape_fits(&image, 0, 0, &shape);
	code_image_release(&image);
	return fit;
}

#define LOAD(size, at)    ((struct access_shape){size, at, false, false})
#define STORE(size, at)   ((struct access_shape){size, at, true, false})
#define INDEXED(size, st) ((struct access_shape){size, 0x10, st, true})

TEST(an_element_has_the_size_of_its_type)
{
	static const struct {
		const char *load, *store;
		uint16_t size;
	} ops[] = {{"2e", "4f", 4}, {"2f", "50", 8}, {"30", "51", 4}, {"31", "52", 8},
		   {"32", "53", 4}, {"33", "54", 1}, {"34", "55", 2}, {"35", "56", 2}};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		uint16_t size = ops[i].size, other = size == 2 ? 1 : 2;

		assert_int_equal(fit_of(ops[i].load, INDEXED(size, false)), ACCESS_FIT);
		assert_int_equal(fit_of(ops[i].load, INDEXED(other, false)), ACCESS_FIT_NONE);
		assert_int_equal(fit_of(ops[i].load, INDEXED(size, true)), ACCESS_FIT_NONE);
		assert_int_equal(fit_of(ops[i].store, INDEXED(size, true)), ACCESS_FIT);
		assert_int_equal(fit_of(ops[i].store, INDEXED(other, true)), ACCESS_FIT_NONE);
		assert_int_equal(fit_of(ops[i].load, INDEXED(32, false)), ACCESS_FIT); /* many */
	}
	/* By a constant index: behind the class. */
	assert_int_equal(fit_of("2e", LOAD(4, 0x10)), ACCESS_FIT);
	assert_int_equal(fit_of("2e", LOAD(4, 8)), ACCESS_FIT_NONE);
}

TEST(lengths_and_classes_have_places)
{
	assert_int_equal(fit_of("be", LOAD(4, 12)), ACCESS_FIT);
	assert_int_equal(fit_of("be", LOAD(4, 16)), ACCESS_FIT); /* Of large class pointers. */
	assert_int_equal(fit_of("be", LOAD(8, 16)), ACCESS_FIT_NONE);
	assert_int_equal(fit_of("be", LOAD(4, 20)), ACCESS_FIT_NONE);
	assert_int_equal(fit_of("be", INDEXED(4, false)), ACCESS_FIT_NONE);
	assert_int_equal(fit_of("c00001", LOAD(4, 8)), ACCESS_FIT); /* checkcast */
	assert_int_equal(fit_of("b60001", LOAD(8, 8)), ACCESS_FIT); /* invokevirtual */
	assert_int_equal(fit_of("53", LOAD(4, 8)), ACCESS_FIT);     /* aastore checks */
	assert_int_equal(fit_of("c00001", LOAD(4, 12)), ACCESS_FIT_NONE);
	assert_int_equal(fit_of("b80001", LOAD(4, 8)), ACCESS_FIT_NONE); /* invokestatic */
}

TEST(what_makes_objects_may_store_anything)
{
	assert_int_equal(fit_of("bb0001", STORE(8, 0)), ACCESS_FIT_PERHAPS);
	assert_int_equal(fit_of("bc0a", STORE(32, 0x10)), ACCESS_FIT_PERHAPS);
	assert_int_equal(fit_of("bb0001", LOAD(8, 0)), ACCESS_FIT_NONE);
	assert_int_equal(fit_of("57", STORE(8, 0)), ACCESS_FIT_NONE); /* pop */
}

static int release_fields(void **state)
{
	struct code_image image = *fields();

	(void)state;
	code_image_release(&image);
	return 0;
}

int main(void)
{
	return tests_run(NULL, release_fields);
}
