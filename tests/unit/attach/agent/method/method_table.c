/* Methods in memory that looks like a JVM's: told from one another, read whole or not at all. */
#include "tests/unit/support/test.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "attach/agent/code/safe_read.h"
#include "attach/agent/method/line_table.h"
#include "attach/agent/method/method_table.h"
#include "tests/unit/support/agent/fake_methods.h"

static struct fake_world *new_world(const char *class, const char *name)
{
	struct fake_world *w = aligned_alloc(8, (sizeof(*w) + 7) & ~(size_t)7);

	assert_non_null(w);
	fake_world_init(w, class, name);
	w->method.flags = FAKE_NATIVE;
	return w;
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

static uint32_t number_of(const struct fake_world *w, uint32_t epoch)
{
	return method_number(method_table(), &fake_method_layout, fake_address(w), epoch);
}

static const char *text_of(uint32_t number, enum method_part part)
{
	return method_copy_text(method_of_number(method_table(), number), part);
}

TEST(a_method_is_what_it_leads_to, begin, end)
{
	struct fake_world *w = *state;
	const struct method_copy *c;
	struct line_table t;

	assert_int_equal(number_of(w, 0), 1);
	c = method_of_number(method_table(), 1);
	assert_string_equal(method_copy_text(c, METHOD_CLASS), "p/A");
	assert_string_equal(method_copy_text(c, METHOD_NAME), "run");
	assert_string_equal(method_copy_text(c, METHOD_DESCRIPTOR), "(I)V");
	assert_string_equal(method_copy_text(c, METHOD_FILE), "A.java");
	assert_true(method_copy_is_native(c));
	assert_int_equal(c->look.code_size, 5);
	t = line_table_of(method_copy_lines(c), c->look.lines_size, fake_method_layout.byte_base);
	assert_true(line_table_next(&t));
	assert_int_equal(t.line, 7);
	assert_int_equal(number_of(w, 0), 1);
}

TEST(file_and_lines_may_be_absent, begin, end)
{
	struct fake_world *w = *state;

	w->pool.file = 0;
	w->const_method.flags = 3;
	assert_int_equal(number_of(w, 0), 1);
	assert_null(text_of(1, METHOD_FILE));
	assert_int_equal(method_of_number(method_table(), 1)->look.lines_size, 0);
}

static bool is_of(const struct fake_world *w, const char *class_name)
{
	return method_is(&fake_method_layout, fake_address(w), class_name, NULL);
}

/* As method handles' own methods have it: the index is one of another pool. */
TEST(a_file_beyond_the_pool_is_none, begin, end)
{
	struct fake_world *w = *state;

	w->pool.file = 8;
	assert_int_equal(number_of(w, 0), 1);
	assert_null(text_of(1, METHOD_FILE));
	assert_true(is_of(w, "p/A"));
}

TEST(the_file_may_be_the_class_s, begin, end)
{
	struct {
		struct fake_class klass;
		const struct fake_constants *constants;
		uint16_t file;
	} class;
	struct method_layout old = fake_method_layout;
	struct fake_world *w = *state;
	struct fake_constants newer = w->pool;

	/* The class was redefined since, the method is of its old version. */
	newer.entries[5] = &w->class;
	class.klass = w->klass;
	class.constants = &newer;
	class.file = 5;
	w->pool.holder = &class.klass;
	old.file_in_class = true;
	old.class_constants = (uint32_t)((char *)&class.constants - (char *)&class);
	old.class_file = (uint32_t)((char *)&class.file - (char *)&class);
	assert_int_equal(method_number(method_table(), &old, fake_address(w), 0), 1);
	assert_string_equal(text_of(1, METHOD_FILE), "p/A");
}

/* Whatever of it changes, and what is known already does not. */
TEST(another_in_its_place_is_another, begin, end)
{
	struct fake_world *w = *state;
	struct fake_const_method twin = w->const_method;

	assert_int_equal(number_of(w, 0), 1);
	fake_set(&w->class, "p/B");
	assert_int_equal(number_of(w, 0), 2);
	fake_set(&w->name, "ran");
	assert_int_equal(number_of(w, 0), 3);
	fake_set(&w->descriptor, "(J)V");
	assert_int_equal(number_of(w, 0), 4);
	fake_set(&w->file, "B.java");
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

TEST(in_an_epoch_it_is_looked_at_once, begin, end)
{
	struct fake_world *w = *state;

	assert_int_equal(number_of(w, 5), 1);
	fake_set(&w->name, "ran");
	assert_int_equal(number_of(w, 5), 1);
	assert_int_equal(number_of(w, 6), 2);
	assert_int_equal(number_of(w, 6), 2);
	fake_set(&w->name, "run");
	assert_int_equal(number_of(w, 7), 1);
	assert_int_equal(number_of(w, 7), 1);
	fake_set(&w->name, "ran");
	assert_int_equal(number_of(w, 0), 2);
}

TEST(long_texts_and_tables_are_whole, begin, end)
{
	struct fake_world *w = *state;
	static char text[METHOD_TEXT_MAX + 8];

	memset(text, 'x', sizeof(text) - 1);
	text[1000] = '\0';
	fake_set(&w->name, text);
	assert_int_equal(number_of(w, 0), 1);
	assert_string_equal(text_of(1, METHOD_NAME), text);
	text[1000] = 'x';
	fake_set(&w->name, text);
	assert_int_equal(number_of(w, 0), 2);
	assert_int_equal(strlen(text_of(2, METHOD_NAME)), METHOD_TEXT_MAX);
}

static void assert_unread(struct fake_world *w)
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

TEST(what_is_no_method_has_no_number, begin, end)
{
	struct fake_world *w = *state;
	struct method_layout unknown = fake_method_layout;
	void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(gone != MAP_FAILED);
	assert_int_equal(method_number(method_table(), &fake_method_layout, 0, 0), 0);
	assert_int_equal(method_number(method_table(), &fake_method_layout, fake_address(w) + 4, 0),
			 0);
	assert_int_equal(method_number(method_table(), &fake_method_layout, (uintptr_t)gone, 0), 0);
	unknown.known = false;
	assert_int_equal(method_number(method_table(), &unknown, fake_address(w), 0), 0);
	ASSERT_UNREAD_WITH(w, w->const_method.constants, gone);
	ASSERT_UNREAD_WITH(w, w->const_method.constants, NULL);
	ASSERT_UNREAD_WITH(w, w->const_method.words, 3);
	ASSERT_UNREAD_WITH(w, w->const_method.words, UINT32_MAX);
	ASSERT_UNREAD_WITH(w, w->const_method.name, 0);
	ASSERT_UNREAD_WITH(w, w->const_method.name, 8);
	ASSERT_UNREAD_WITH(w, w->const_method.signature, 1);
	ASSERT_UNREAD_WITH(w, w->pool.holder, gone);
	ASSERT_UNREAD_WITH(w, w->pool.entries[1], gone);
	ASSERT_UNREAD_WITH(w, w->pool.entries[2], (const struct fake_text *)((char *)&w->name + 2));
	ASSERT_UNREAD_WITH(w, w->pool.entries[3], gone);
	ASSERT_UNREAD_WITH(w, w->name.length, 0);
	ASSERT_UNREAD_WITH(w, w->class.users, 0);
	ASSERT_UNREAD_WITH(w, w->name.body[1], '/');
	ASSERT_UNREAD_WITH(w, w->class.body[1], '.');
	ASSERT_UNREAD_WITH(w, w->descriptor.body[1], 'Q');
	memset(w->const_method.bytes, 9, sizeof(w->const_method.bytes)); /* lines without an end */
	assert_unread(w);
	(void)munmap(gone, 4096);
}

TEST(the_class_of_a_method_is_told_without_a_copy, begin, end)
{
	struct fake_world *w = *state;
	struct method_layout unknown = fake_method_layout;
	char longest[65];

	assert_true(is_of(w, "p/A"));
	assert_false(is_of(w, "p/B"));
	assert_false(is_of(w, "p/")); /* its begin */
	assert_false(is_of(w, "p/AB"));
	assert_false(is_of(w, ""));
	memset(longest, 'x', 64);
	longest[64] = '\0';
	fake_set(&w->class, longest);
	assert_false(is_of(w, longest)); /* one too many */
	longest[63] = '\0';
	fake_set(&w->class, longest);
	assert_true(is_of(w, longest));
	unknown.known = false;
	assert_false(method_is(&unknown, fake_address(w), longest, NULL));
	assert_false(method_is(&fake_method_layout, 64, longest, NULL));
	w->klass.name = (const struct fake_text *)64;
	assert_false(is_of(w, longest));
	assert_int_equal(method_table()->count, 0);
	assert_int_equal(method_table()->unread, 0);
}

TEST(compiled_is_what_was_met_so_at_least_once, begin, end)
{
	struct fake_world *w = *state;

	assert_int_equal(number_of(w, 0), 1);
	assert_false(method_is_compiled(method_table(), 1));
	method_set_compiled(method_table(), 1);
	assert_int_equal(number_of(w, 0), 1);
	assert_true(method_is_compiled(method_table(), 1));
	fake_set(&w->name, "ran");
	assert_int_equal(number_of(w, 0), 2);
	assert_false(method_is_compiled(method_table(), 2));
}

TEST(a_window_begins_with_an_empty_table, begin, end)
{
	assert_int_equal(number_of(*state, 3), 1); /* by a handler that was late */
	assert_int_equal(method_table_init(), 0);
	assert_int_equal(method_table()->count, 0);
	assert_int_equal(method_table()->used, 0);
}

/* Up to the page's last byte there are reads, and none behind it. */
TEST(nothing_behind_what_is_there_is_needed, begin, end)
{
	struct fake_world *w = *state;
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t bytes = offsetof(struct fake_text, body) + 4;
	struct fake_text *last = (struct fake_text *)(void *)(pages + 4096 - bytes);

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

TEST(more_methods_than_numbers_are_counted, begin, end)
{
	struct fake_world *w = *state;
	struct fake_method *methods = calloc(METHODS_MAX + 10, sizeof(*methods));
	struct method_table *t = method_table();

	assert_non_null(methods);
	for (unsigned i = 0; i < METHODS_MAX + 10; i++) {
		memcpy(&methods[i], &w->method, sizeof(methods[i]));
		assert_int_equal(method_number(t, &fake_method_layout, (uintptr_t)&methods[i], 0),
				 i < METHODS_MAX ? i + 1 : 0);
	}
	assert_int_equal(t->full, 10);
	assert_int_equal(t->unread, 0);
	assert_int_equal(method_number(t, &fake_method_layout, (uintptr_t)&methods[77], 0), 78);
	assert_ptr_equal((void *)(uintptr_t)method_of_number(t, 78)->look.method, &methods[77]);
	free(methods);
}

TEST(more_than_the_arena_holds_is_counted, begin, end)
{
	struct fake_world *w = *state;
	struct fake_method *methods = calloc(METHODS_MAX, sizeof(*methods));
	struct method_table *t = method_table();
	static char text[3991];
	uint32_t had = 0;

	assert_non_null(methods);
	memset(text, 'x', 3990);
	fake_set(&w->class, text);
	for (unsigned i = 0; i < 1000; i++) {
		memcpy(&methods[i], &w->method, sizeof(methods[i]));
		had += method_number(t, &fake_method_layout, (uintptr_t)&methods[i], 0) != 0;
	}
	assert_in_range(had, 700, METHOD_ARENA_WORDS * 8 / 3990);
	assert_int_equal(t->full, 1000 - had);
	/* What is smaller may have room yet; what was there before is. */
	fake_set(&w->class, "p/A");
	assert_true(method_number(t, &fake_method_layout, (uintptr_t)&methods[999], 0) > 0);
	fake_set(&w->class, text);
	assert_int_equal(method_number(t, &fake_method_layout, (uintptr_t)&methods[0], 0), 1);
	free(methods);
}

TEST(after_a_window_nothing_is_left, begin, end)
{
	assert_int_equal(number_of(*state, 3), 1);
	method_table_release();
	assert_int_equal(method_table()->count, 0);
	fake_set(&((struct fake_world *)*state)->name, "other");
	assert_int_equal(number_of(*state, 3), 1);
	assert_string_equal(text_of(1, METHOD_NAME), "other");
}

#define SHARED 500u
static struct fake_method shared[SHARED];

static void *meet_all(void *arg)
{
	uint32_t *numbers = arg;

	for (unsigned i = 0; i < SHARED; i++)
		numbers[i] =
		    method_number(method_table(), &fake_method_layout, (uintptr_t)&shared[i], 0);
	return NULL;
}

TEST(threads_that_meet_one_agree_on_its_number, begin, end)
{
	static uint32_t numbers[4][SHARED];
	struct fake_world *w = *state;
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
		    (void *)(uintptr_t)method_of_number(method_table(), numbers[0][i])->look.method,
		    &shared[i]);
		for (unsigned k = 1; k < 4; k++)
			assert_int_equal(numbers[k][i], numbers[0][i]);
	}
}

struct changing {
	struct fake_world *one, *other;
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
TEST(what_changes_is_never_mixed, begin, end)
{
	struct changing c = {.one = *state, .other = new_world("p/Another", "walk")};
	pthread_t thread;

	fake_set(&c.other->descriptor, "(JJ)I");
	fake_set(&c.other->file, "Another.java");
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
