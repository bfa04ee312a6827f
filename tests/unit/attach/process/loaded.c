#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "attach/process/loaded.h"
#include "tests/unit/support/perfdata_file.h"

#define METHOD 88 /* bytes, as HotSpot counts them */

static struct perfdata_file file;
static struct loaded loaded;

static void add(const char *name, uint64_t number)
{
	(void)perfdata_file_add(&file, name, 'J', &number, 0);
}

static int set_up(void **state)
{
	(void)state;
	perfdata_file_init(&file);
	perfdata_file_add_string(&file, "java.rt.vmArgs", "-Xmx64m");
	memset(&loaded, 0, sizeof(loaded));
	return 0;
}

static void read_file(void)
{
	loaded_read(&loaded, file.bytes, file.size);
}

static void what_was_parsed_and_what_came_from_the_archive_are_counted(void **state)
{
	(void)state;
	add("java.cls.loadedClasses", 5000);
	add("java.cls.sharedLoadedClasses", 544);
	add("java.cls.unloadedClasses", 0);
	add("sun.cls.methodBytes", 45000 * METHOD);
	read_file();
	assert_false(loaded.guessed);
	assert_int_equal(loaded.classes, 5544);
	assert_int_equal(loaded.methods, 45000 + 544 * 20);
}

static void classes_that_were_unloaded_take_nothing(void **state)
{
	(void)state;
	add("java.cls.loadedClasses", 100000);
	add("java.cls.unloadedClasses", 90000);
	add("sun.cls.methodBytes", UINT64_C(2000000) * METHOD);
	read_file();
	assert_int_equal(loaded.classes, 10000);
	assert_int_equal(loaded.methods, 200000);
}

/* 3.6 million hidden classes of two methods have come and gone beside 20,000 that stay. */
static void those_that_stay_have_as_many_methods_as_is_usual(void **state)
{
	(void)state;
	add("java.cls.loadedClasses", 3620000);
	add("java.cls.unloadedClasses", 3600000);
	add("sun.cls.methodBytes", UINT64_C(7600000) * METHOD);
	read_file();
	assert_int_equal(loaded.classes, 20000);
	assert_int_equal(loaded.methods, 240000);
}

static void there_are_never_more_methods_than_were_parsed(void **state)
{
	(void)state;
	add("java.cls.loadedClasses", 1000);
	add("java.cls.unloadedClasses", 1);
	add("sun.cls.methodBytes", 1000 * METHOD);
	read_file();
	assert_int_equal(loaded.methods, 1000);
}

static void absurd_numbers_are_bounded(void **state)
{
	(void)state;
	add("java.cls.loadedClasses", UINT64_MAX);
	add("java.cls.unloadedClasses", 0);
	add("java.cls.sharedLoadedClasses", 5);
	add("java.cls.sharedUnloadedClasses", UINT64_MAX);
	add("sun.cls.methodBytes", UINT64_MAX);
	read_file();
	assert_int_equal(loaded.classes, 100000000);
	assert_int_equal(loaded.methods, 1000000000);
	assert_true(loaded_attach_bytes(&loaded) < UINT64_C(1) << 40);
}

static void what_an_earlier_attach_has_given_ids_takes_nothing_more(void **state)
{
	const struct loaded none = {0}, all = {.classes = 60000,
					       .methods = 540000,
					       .classes_with_ids = 61000,
					       .methods_with_ids = 550000};
	struct loaded some = all;

	(void)state;
	assert_int_equal(loaded_attach_bytes(&all), loaded_attach_bytes(&none));
	some.classes += 2000;
	some.methods += 11000;
	assert_int_equal(loaded_id_bytes(&some), 1000 * 64 + 1000 * 17);
}

static void without_counters_it_is_guessed_by_size(void **state)
{
	(void)state;
	loaded_read(&loaded, NULL, 0);
	assert_true(loaded.guessed);
	loaded_guess(&loaded, UINT64_C(16) << 20);
	assert_int_equal(loaded.classes, 1024);
	assert_int_equal(loaded.methods, 12288);
	loaded = (struct loaded){.classes = 7};
	loaded_guess(&loaded, UINT64_C(16) << 20);
	assert_int_equal(loaded.classes, 7);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(what_was_parsed_and_what_came_from_the_archive_are_counted),
	    TEST(classes_that_were_unloaded_take_nothing),
	    TEST(those_that_stay_have_as_many_methods_as_is_usual),
	    TEST(there_are_never_more_methods_than_were_parsed),
	    TEST(absurd_numbers_are_bounded),
	    TEST(what_an_earlier_attach_has_given_ids_takes_nothing_more),
	    TEST(without_counters_it_is_guessed_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
