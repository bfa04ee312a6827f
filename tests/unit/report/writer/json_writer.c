#include "tests/unit/support/test.h"

#include <string.h>

#include "report/json_parts.h"
#include "tests/unit/support/sample_findings.h"

/* A window whose profile has a path of three frames of one method; *leaf is its end. */
static struct window_result *window_with_a_path(uint32_t *leaf)
{
	struct window_request request = {0};
	struct window_result *w = window_result_new(1, 42, &request, &sample_findings);
	struct cct_method method = {0};
	struct cct_node node = {.line = 1};

	assert_int_equal(strings_intern(&w->profile.strings, "a.B", &method.class_name), 0);
	method.name = method.file = method.class_name;
	assert_int_equal(cct_add_method(&w->profile.cct, &method, &node.method), 0);
	for (node.line = 1; node.line <= 3; node.line++)
		assert_int_equal(cct_add_node(&w->profile.cct, &node, &node.parent), 0);
	*leaf = node.parent;
	return w;
}

TEST(frames_are_leaf_first_and_shared)
{
	_cleanup_(json_writer_release) struct json_writer writer = {0};
	_cleanup_json_ json_t *frames = NULL;
	_cleanup_json_ json_t *again = NULL;
	_cleanup_json_ json_t *none = NULL;
	struct report_model m;
	uint32_t leaf;
	struct window_result *w = window_with_a_path(&leaf);

	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(json_writer_init(&writer, &m, false), 0);
	frames = report_json_frames(&writer, leaf);
	again = report_json_frames(&writer, leaf);
	none = report_json_frames(&writer, 0);
	assert_int_equal(json_array_size(frames), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(frames, 0), "line")), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(frames, 2), "line")), 1);
	assert_ptr_equal(json_array_get(frames, 1), json_array_get(again, 1));
	assert_int_equal(json_array_size(none), 0);
	json_writer_release(&writer);
	report_model_release(&m);
	window_result_free(w);
}

TEST(contexts_are_taken_from_what_the_document_may_hold)
{
	_cleanup_(json_writer_release) struct json_writer writer = {0};
	struct report_model m;
	uint32_t leaf;
	struct window_result *w = window_with_a_path(&leaf);
	size_t names = 3 * 3 * strlen("a.B");

	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(json_writer_init(&writer, &m, false), 0);
	writer.frames_left = 10;
	writer.name_bytes_left = 3 * names;
	assert_true(report_json_take_contexts(&writer, leaf, leaf));
	assert_int_equal(writer.frames_left, 4);
	assert_int_equal(writer.name_bytes_left, names);
	/* Neither is taken in part. */
	assert_false(report_json_take_contexts(&writer, leaf, leaf));
	writer.frames_left = 100;
	assert_false(report_json_take_contexts(&writer, leaf, leaf));
	assert_int_equal(writer.frames_left, 100);
	assert_int_equal(writer.name_bytes_left, names);
	assert_true(report_json_take_contexts(&writer, leaf, 0));
	assert_int_equal(writer.name_bytes_left, 0);
	json_writer_release(&writer);
	report_model_release(&m);
	window_result_free(w);
}

TEST(a_location_says_what_was_touched_and_is_of_what_the_document_may_hold)
{
	_cleanup_(json_writer_release) struct json_writer writer = {0};
	_cleanup_json_ json_t *node = NULL;
	_cleanup_json_ json_t *without_names = NULL;
	_cleanup_json_ json_t *none = NULL;
	struct report_model m;
	uint32_t leaf, id;
	struct window_result *w = window_with_a_path(&leaf);
	struct location location = {.kind = JXP__LOCATION__KIND__FIELD};

	assert_int_equal(strings_intern(&w->profile.strings, "a.B", &location.class_name), 0);
	assert_int_equal(strings_intern(&w->profile.strings, "next", &location.field), 0);
	assert_int_equal(locations_add(&w->profile.locations, &location, &id), 0);
	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(json_writer_init(&writer, &m, false), 0);
	writer.name_bytes_left = strlen("a.Bnext");
	node = report_json_location(&writer, id);
	without_names = report_json_location(&writer, id);
	none = report_json_location(&writer, 0);
	assert_string_equal(json_string_value(json_object_get(node, "class")), "a.B");
	assert_string_equal(json_string_value(json_object_get(node, "field")), "next");
	assert_string_equal(json_string_value(json_object_get(node, "declared_in")), "");
	assert_string_equal(json_string_value(json_object_get(node, "kind")), "field");
	assert_string_equal(json_string_value(json_object_get(without_names, "class")), "");
	assert_string_equal(json_string_value(json_object_get(without_names, "kind")), "field");
	assert_string_equal(json_string_value(json_object_get(none, "kind")), "unknown");
	json_writer_release(&writer);
	report_model_release(&m);
	window_result_free(w);
}

TEST(contexts_that_are_numbered_stand_behind_their_callers)
{
	_cleanup_(json_writer_release) struct json_writer writer = {0};
	_cleanup_json_ json_t *number = NULL, *again = NULL, *none = NULL, *contexts = NULL;
	struct report_model m;
	uint32_t leaf;
	struct window_result *w = window_with_a_path(&leaf);
	const json_t *parents, *lines;

	assert_int_equal(report_model_init(&m, w, NULL), 0);
	assert_int_equal(json_writer_init(&writer, &m, true), 0);
	writer.frames_left = 3;
	assert_true(report_json_take_contexts(&writer, leaf, 0));
	number = report_json_frames(&writer, leaf);
	/* One that is there already takes nothing. */
	assert_true(report_json_take_contexts(&writer, leaf, leaf));
	again = report_json_frames(&writer, leaf);
	none = report_json_frames(&writer, 0);
	contexts = report_json_contexts(&writer);
	assert_int_equal(json_integer_value(number), 3);
	assert_int_equal(json_integer_value(again), 3);
	assert_int_equal(json_integer_value(none), 0);
	assert_int_equal(json_array_size(json_object_get(contexts, "methods")), 1);
	parents = json_object_get(contexts, "parent");
	lines = json_object_get(contexts, "line");
	assert_int_equal(json_array_size(parents), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(json_integer_value(json_array_get(parents, i)), i);
		assert_int_equal(json_integer_value(json_array_get(lines, i)), i + 1);
	}
	json_writer_release(&writer);
	report_model_release(&m);
	window_result_free(w);
}
