/* Methods in memory that looks like a JVM's: told from one another, read whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/line_table.h"
#include "attach/agent/method/method_table.h"

/* Structures of no release: the layout says where what is. */
struct symbol {
	uint16_t users, length;
	char body[METHOD_TEXT_MAX + 12];
};
struct klass {
	uint64_t ignored;
	const struct symbol *name;
};
struct pool {
	uint64_t ignored;
	const struct klass *holder;
	uint32_t length;
	uint16_t file, more;
	const struct symbol *entries[8];
};
struct const_method {
	const struct pool *constants;
	uint32_t words;
	uint16_t flags, code_size, name, signature;
	uint32_t more;
	uint8_t bytes[64];
};
struct method {
	uint64_t ignored;
	const struct const_method *_Atomic const_method;
	uint16_t flags, more[3];
};

static const struct method_layout layout = {
    .known = true,
    .byte_base = 1,
    .method_bytes = sizeof(struct method),
    .method_const = offsetof(struct method, const_method),
    .method_flags = offsetof(struct method, flags),
    .const_bytes = offsetof(struct const_method, bytes),
    .const_constants = offsetof(struct const_method, constants),
    .const_words = offsetof(struct const_method, words),
    .const_flags = offsetof(struct const_method, flags),
    .has_lines = 4,
    .const_code_size = offsetof(struct const_method, code_size),
    .const_name = offsetof(struct const_method, name),
    .const_signature = offsetof(struct const_method, signature),
    .pool_bytes = offsetof(struct pool, entries),
    .pool_holder = offsetof(struct pool, holder),
    .pool_length = offsetof(struct pool, length),
    .pool_file = offsetof(struct pool, file),
    .class_name = offsetof(struct klass, name),
    .symbol_users = offsetof(struct symbol, users),
    .symbol_length = offsetof(struct symbol, length),
    .symbol_body = offsetof(struct symbol, body),
};

/* One class with one method. */
struct world {
	_Alignas(8) struct symbol class, name, descriptor, file;
	_Alignas(8) struct klass klass;
	_Alignas(8) struct pool pool;
	_Alignas(8) struct const_method const_method;
	_Alignas(8) struct method method;
};

static void set(struct symbol *s, const char *text)
{
	s->users = 1;
	s->length = (uint16_t)strlen(text);
	memcpy(s->body, text, s->length);
}

static struct world *new_world(const char *class, const char *name)
{
	struct world *w = aligned_alloc(8, (sizeof(*w) + 7) & ~(size_t)7);

	assert_non_null(w);
	memset(w, 0, sizeof(*w));
	set(&w->class, class);
	set(&w->name, name);
	set(&w->descriptor, "(I)V");
	set(&w->file, "A.java");
	w->klass.name = &w->class;
	w->pool = (struct pool){.holder = &w->klass,
				.length = 8,
				.file = 3,
				.entries = {NULL, &w->name, &w->descriptor, &w->file}};
	w->const_method = (struct const_method){.constants = &w->pool,
						.words = sizeof(struct const_method) / 8,
						.flags = 4,
						.code_size = 5,
						.name = 1,
						.signature = 2,
						.bytes = {1, 2, 3, 4, 5, 1 << 3 | 7, 0}};
	w->method = (struct method){.const_method = &w->const_method, .flags = 0x109};
	return w;
}

static uint64_t address(const struct world *w)
{
	return (uintptr_t)&w->method;
}

static int begin(void **state)
{
	*state = new_world("p/A", "run");
	return method_table_init() == 0 && safe_read_init() == 0 ? 0 : -1;
}

static int end(void **state)
{
	free(*state);
	method_table_release();
	safe_read_release();
	return 0;
}

static uint32_t number_of(const struct world *w, uint32_t epoch)
{
	return method_number(method_table(), &layout, address(w), epoch);
}

static const char *text_of(uint32_t number, enum method_part part)
{
	return method_copy_text(method_of_number(method_table(), number), part);
}

static void a_method_is_what_it_leads_to(void **state)
{
	struct world *w = *state;
	const struct method_copy *c;
	struct line_table t;

	assert_int_equal(number_of(w, 0), 1);
	c = method_of_number(method_table(), 1);
	assert_string_equal(method_copy_text(c, METHOD_CLASS), "p/A");
	assert_string_equal(method_copy_text(c, METHOD_NAME), "run");
	assert_string_equal(method_copy_text(c, METHOD_DESCRIPTOR), "(I)V");
	assert_string_equal(method_copy_text(c, METHOD_FILE), "A.java");
	assert_true(method_copy_is_native(c));
	assert_int_equal(c->code_size, 5);
	t = line_table_of(method_copy_lines(c), c->lines_size, layout.byte_base);
	assert_int_equal(line_table_find(&t, 3), 7);
	assert_int_equal(number_of(w, 0), 1);
}

static void file_and_lines_may_be_absent(void **state)
{
	struct world *w = *state;

	w->pool.file = 0;
	w->const_method.flags = 3;
	assert_int_equal(number_of(w, 0), 1);
	assert_null(text_of(1, METHOD_FILE));
	assert_int_equal(method_of_number(method_table(), 1)->lines_size, 0);
}

static void the_file_may_be_the_class_s(void **state)
{
	struct {
		struct klass klass;
		const struct pool *constants;
		uint16_t file;
	} class;
	struct method_layout old = layout;
	struct world *w = *state;
	struct pool newer = w->pool;

	/* The class was redefined since, the method is of its old version. */
	newer.entries[5] = &w->class;
	class.klass = w->klass;
	class.constants = &newer;
	class.file = 5;
	w->pool.holder = &class.klass;
	old.file_in_class = true;
	old.class_constants = (uint32_t)((char *)&class.constants - (char *)&class);
	old.class_file = (uint32_t)((char *)&class.file - (char *)&class);
	assert_int_equal(method_number(method_table(), &old, address(w), 0), 1);
	assert_string_equal(text_of(1, METHOD_FILE), "p/A");
}

/* Whatever of it changes, and what is known already does not. */
static void another_in_its_place_is_another(void **state)
{
	struct world *w = *state;
	struct const_method twin = w->const_method;

	assert_int_equal(number_of(w, 0), 1);
	set(&w->class, "p/B");
	assert_int_equal(number_of(w, 0), 2);
	set(&w->name, "ran");
	assert_int_equal(number_of(w, 0), 3);
	set(&w->descriptor, "(J)V");
	assert_int_equal(number_of(w, 0), 4);
	set(&w->file, "B.java");
	assert_int_equal(number_of(w, 0), 5);
	w->const_method.bytes[5]++;
	assert_int_equal(number_of(w, 0), 6);
	w->method.flags = 9;
	assert_int_equal(number_of(w, 0), 7);
	w->method.const_method = &twin; /* redefined */
	assert_int_equal(number_of(w, 0), 8);
	assert_string_equal(text_of(1, METHOD_CLASS), "p/A");
	assert_string_equal(text_of(2, METHOD_CLASS), "p/B");
	assert_string_equal(text_of(2, METHOD_NAME), "run");
	assert_string_equal(text_of(7, METHOD_NAME), "ran");
	w->method.const_method = &w->const_method;
	assert_int_equal(number_of(w, 0), 7);
}

static void in_an_epoch_it_is_looked_at_once(void **state)
{
	struct world *w = *state;

	assert_int_equal(number_of(w, 5), 1);
	set(&w->name, "ran");
	assert_int_equal(number_of(w, 5), 1);
	assert_int_equal(number_of(w, 6), 2);
	assert_int_equal(number_of(w, 6), 2);
	set(&w->name, "run");
	assert_int_equal(number_of(w, 7), 1);
	assert_int_equal(number_of(w, 7), 1);
	set(&w->name, "ran");
	assert_int_equal(number_of(w, 0), 2);
}

static void long_texts_and_tables_are_whole(void **state)
{
	struct world *w = *state;
	static char text[METHOD_TEXT_MAX + 8];

	memset(text, 'x', sizeof(text) - 1);
	text[1000] = '\0';
	set(&w->name, text);
	assert_int_equal(number_of(w, 0), 1);
	assert_string_equal(text_of(1, METHOD_NAME), text);
	text[1000] = 'x';
	set(&w->name, text);
	assert_int_equal(number_of(w, 0), 2);
	assert_int_equal(strlen(text_of(2, METHOD_NAME)), METHOD_TEXT_MAX);
}

static void assert_unread(struct world *w)
{
	uint32_t before = method_table()->unread;

	assert_int_equal(number_of(w, 0), 0);
	assert_int_equal(method_table()->unread, before + 1);
	assert_int_equal(method_table()->count, 0);
	assert_int_equal(method_table()->used, 0);
}

#define ASSERT_UNREAD_WITH(w, place, value)            \
	do {                                           \
		__typeof__(place) before_it = (place); \
		(place) = (value);                     \
		assert_unread(w);                      \
		(place) = before_it;                   \
	} while (0)

static void what_is_no_method_has_no_number(void **state)
{
	struct world *w = *state;
	struct method_layout unknown = layout;
	void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(gone != MAP_FAILED);
	assert_int_equal(method_number(method_table(), &layout, 0, 0), 0);
	assert_int_equal(method_number(method_table(), &layout, address(w) + 4, 0), 0);
	assert_int_equal(method_number(method_table(), &layout, (uintptr_t)gone, 0), 0);
	unknown.known = false;
	assert_int_equal(method_number(method_table(), &unknown, address(w), 0), 0);
	ASSERT_UNREAD_WITH(w, w->const_method.constants, gone);
	ASSERT_UNREAD_WITH(w, w->const_method.constants, NULL);
	ASSERT_UNREAD_WITH(w, w->const_method.words, 3);
	ASSERT_UNREAD_WITH(w, w->const_method.words, UINT32_MAX);
	ASSERT_UNREAD_WITH(w, w->const_method.name, 0);
	ASSERT_UNREAD_WITH(w, w->const_method.name, 8);
	ASSERT_UNREAD_WITH(w, w->const_method.signature, 1);
	ASSERT_UNREAD_WITH(w, w->pool.holder, gone);
	ASSERT_UNREAD_WITH(w, w->pool.entries[1], gone);
	ASSERT_UNREAD_WITH(w, w->pool.entries[2], (const struct symbol *)((char *)&w->name + 2));
	ASSERT_UNREAD_WITH(w, w->pool.file, 9);
	ASSERT_UNREAD_WITH(w, w->name.length, 0);
	ASSERT_UNREAD_WITH(w, w->class.users, 0);
	ASSERT_UNREAD_WITH(w, w->name.body[1], '/');
	ASSERT_UNREAD_WITH(w, w->class.body[1], '.');
	ASSERT_UNREAD_WITH(w, w->descriptor.body[1], 'Q');
	memset(w->const_method.bytes, 9, sizeof(w->const_method.bytes)); /* lines without an end */
	assert_unread(w);
	(void)munmap(gone, 4096);
}

/* Up to the page's last byte there are reads, and none behind it. */
static void nothing_behind_what_is_there_is_needed(void **state)
{
	struct world *w = *state;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t bytes = offsetof(struct symbol, body) + 4;
	struct symbol *last = (struct symbol *)(void *)(pages + 4096 - bytes);

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	last->users = 1;
	last->length = 4;
	memcpy(last->body, "runs", 4);
	assert_int_equal((uintptr_t)last % 8, 0);
	w->pool.entries[1] = last;
	assert_int_equal(number_of(w, 0), 1);
	assert_string_equal(text_of(1, METHOD_NAME), "runs");
	(void)munmap(pages, 8192);
}

static void more_methods_than_numbers_are_counted(void **state)
{
	struct world *w = *state;
	struct method *methods = calloc(METHODS_MAX + 10, sizeof(*methods));
	struct method_table *t = method_table();

	assert_non_null(methods);
	for (unsigned i = 0; i < METHODS_MAX + 10; i++) {
		memcpy(&methods[i], &w->method, sizeof(methods[i]));
		assert_int_equal(method_number(t, &layout, (uintptr_t)&methods[i], 0),
				 i < METHODS_MAX ? i + 1 : 0);
	}
	assert_int_equal(t->full, 10);
	assert_int_equal(t->unread, 0);
	assert_int_equal(method_number(t, &layout, (uintptr_t)&methods[77], 0), 78);
	assert_ptr_equal((void *)(uintptr_t)method_of_number(t, 78)->method, &methods[77]);
	free(methods);
}

static void more_than_the_arena_holds_is_counted(void **state)
{
	struct world *w = *state;
	struct method *methods = calloc(METHODS_MAX, sizeof(*methods));
	struct method_table *t = method_table();
	static char text[4001];
	uint32_t had = 0;

	assert_non_null(methods);
	memset(text, 'x', 4000);
	set(&w->class, text);
	for (unsigned i = 0; i < 1000; i++) {
		memcpy(&methods[i], &w->method, sizeof(methods[i]));
		had += method_number(t, &layout, (uintptr_t)&methods[i], 0) != 0;
	}
	assert_in_range(had, 700, METHOD_ARENA_WORDS * 8 / 4000);
	assert_int_equal(t->full, 1000 - had);
	/* What is smaller may have room yet; what was there before is. */
	set(&w->class, "p/A");
	assert_true(method_number(t, &layout, (uintptr_t)&methods[999], 0) > 0);
	set(&w->class, text);
	assert_int_equal(method_number(t, &layout, (uintptr_t)&methods[0], 0), 1);
	free(methods);
}

static void after_a_window_nothing_is_left(void **state)
{
	assert_int_equal(number_of(*state, 3), 1);
	method_table_release();
	assert_int_equal(method_table()->count, 0);
	set(&((struct world *)*state)->name, "other");
	assert_int_equal(number_of(*state, 3), 1);
	assert_string_equal(text_of(1, METHOD_NAME), "other");
}

#define SHARED 500u
static struct method shared[SHARED];

static void *meet_all(void *arg)
{
	uint32_t *numbers = arg;

	for (unsigned i = 0; i < SHARED; i++)
		numbers[i] = method_number(method_table(), &layout, (uintptr_t)&shared[i], 0);
	return NULL;
}

static void threads_that_meet_one_agree_on_its_number(void **state)
{
	static uint32_t numbers[4][SHARED];
	struct world *w = *state;
	pthread_t threads[4];

	for (unsigned i = 0; i < SHARED; i++)
		memcpy(&shared[i], &w->method, sizeof(shared[i]));
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, meet_all, numbers[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		(void)pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < SHARED; i++) {
		assert_true(numbers[0][i] > 0);
		assert_ptr_equal(
		    (void *)(uintptr_t)method_of_number(method_table(), numbers[0][i])->method,
		    &shared[i]);
		for (unsigned k = 1; k < 4; k++)
			assert_int_equal(numbers[k][i], numbers[0][i]);
	}
}

struct changing {
	struct world *one, *other;
	_Atomic bool ends;
};

static void *change(void *arg)
{
	struct changing *c = arg;

	while (!c->ends) {
		c->one->method.const_method = &c->other->const_method;
		c->one->method.const_method = &c->one->const_method;
	}
	return NULL;
}

/* What is another at each look is read as one or as the other, or not. */
static void what_changes_is_never_mixed(void **state)
{
	struct changing c = {.one = *state, .other = new_world("p/Another", "walk")};
	pthread_t thread;

	set(&c.other->descriptor, "(JJ)I");
	set(&c.other->file, "Another.java");
	assert_int_equal(pthread_create(&thread, NULL, change, &c), 0);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t number = number_of(c.one, 0);
		bool one = number && strcmp(text_of(number, METHOD_CLASS), "p/A") == 0;

		if (!number)
			continue;
		assert_string_equal(text_of(number, METHOD_CLASS), one ? "p/A" : "p/Another");
		assert_string_equal(text_of(number, METHOD_NAME), one ? "run" : "walk");
		assert_string_equal(text_of(number, METHOD_DESCRIPTOR), one ? "(I)V" : "(JJ)I");
		assert_string_equal(text_of(number, METHOD_FILE), one ? "A.java" : "Another.java");
	}
	c.ends = true;
	(void)pthread_join(thread, NULL);
	assert_in_range(method_table()->count, 1, 2);
	free(c.other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(a_method_is_what_it_leads_to, begin, end),
	    cmocka_unit_test_setup_teardown(file_and_lines_may_be_absent, begin, end),
	    cmocka_unit_test_setup_teardown(the_file_may_be_the_class_s, begin, end),
	    cmocka_unit_test_setup_teardown(another_in_its_place_is_another, begin, end),
	    cmocka_unit_test_setup_teardown(in_an_epoch_it_is_looked_at_once, begin, end),
	    cmocka_unit_test_setup_teardown(long_texts_and_tables_are_whole, begin, end),
	    cmocka_unit_test_setup_teardown(what_is_no_method_has_no_number, begin, end),
	    cmocka_unit_test_setup_teardown(nothing_behind_what_is_there_is_needed, begin, end),
	    cmocka_unit_test_setup_teardown(more_methods_than_numbers_are_counted, begin, end),
	    cmocka_unit_test_setup_teardown(more_than_the_arena_holds_is_counted, begin, end),
	    cmocka_unit_test_setup_teardown(after_a_window_nothing_is_left, begin, end),
	    cmocka_unit_test_setup_teardown(threads_that_meet_one_agree_on_its_number, begin, end),
	    cmocka_unit_test_setup_teardown(what_changes_is_never_mixed, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
