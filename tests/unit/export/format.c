#include "tests/unit/support/test.h"

#include <string.h>

#include "export/format.h"

TEST(labels_are_read_one_by_one)
{
	char name[EXPORT_LABEL_BYTES], text[EXPORT_LABEL_BYTES];
	const char *at = "team=shop\na.b=c = d\n";

	at = export_label_next(at, name, text);
	assert_string_equal(name, "team");
	assert_string_equal(text, "shop");
	at = export_label_next(at, name, text);
	assert_string_equal(name, "a.b");
	assert_string_equal(text, "c = d");
	assert_null(export_label_next(at, name, text));
	assert_null(export_label_next(NULL, name, text));
}

TEST(a_status_says_whether_to_try_again)
{
	static const struct {
		int status;
		enum export_outcome outcome;
	} cases[] = {{200, EXPORT_SENT},    {204, EXPORT_SENT},    {100, EXPORT_RETRY},
		     {301, EXPORT_RETRY},   {307, EXPORT_RETRY},   {400, EXPORT_REFUSED},
		     {401, EXPORT_RETRY},   {402, EXPORT_REFUSED}, {403, EXPORT_RETRY},
		     {404, EXPORT_RETRY},   {405, EXPORT_RETRY},   {407, EXPORT_RETRY},
		     {408, EXPORT_FAILED},  {413, EXPORT_SMALLER}, {415, EXPORT_REFUSED},
		     {422, EXPORT_REFUSED}, {429, EXPORT_RETRY},   {500, EXPORT_FAILED},
		     {501, EXPORT_REFUSED}, {502, EXPORT_FAILED},  {503, EXPORT_FAILED},
		     {504, EXPORT_FAILED},  {505, EXPORT_REFUSED}, {0, EXPORT_RETRY}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(export_judge_status(cases[i].status), cases[i].outcome);
}
