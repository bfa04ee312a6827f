#include "tests/unit/support/test.h"

#include <stdio.h>
#include <string.h>

#include "subsume/label.h"

TEST(labels_are_written_as_in_a_source_file)
{
	static const char *const rows[][2] = {
	    {"java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;",
	     "java.util.HashMap.get(Object)"},
	    {"a.B.c([[I[Ljava/lang/String;ZJ)V", "a.B.c(int[][], String[], boolean, long)"},
	    {"a.B.c(Ljava/util/Map$Entry,D)", "a.B.c(Map$Entry, double)"},
	    {"a.B.<init>()V", "a.B.<init>()"},
	    {"a.B.c", "a.B.c"},
	    /* What is no descriptor stays. */
	    {"B.c(B.java:12)", "B.c(B.java:12)"},
	    {"a.B.c(", "a.B.c("},
	    {"a.B.c(Ljava/lang", "a.B.c(Ljava/lang"},
	    {"a.B.c([", "a.B.c(["},
	    {"a.B.c(I", "a.B.c(I"},
	    {"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		assert_non_null(out);
		subsume_label_write(out, rows[i][0]);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, rows[i][1]);
	}
}

TEST(labels_have_a_class_a_method_and_a_descriptor)
{
	static const char *const rows[][4] = {
	    {"java.util.HashMap.get(Ljava/lang/Object;)", "java.util.HashMap", "get",
	     "(Ljava/lang/Object;)"},
	    {"java/util/HashMap.get", "java/util/HashMap", "get", ""},
	    {"Main.<init>", "Main", "<init>", ""},
	    {"malloc", "", "malloc", ""},
	    {"(root)", "", "(root)", ""},
	    {".x", "", ".x", ""},
	    {"x.", "", "x.", ""},
	    {"", "", "", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct label_parts p = subsume_label_parts(rows[i][0]);

		assert_int_equal(p.class_length, strlen(rows[i][1]));
		assert_memory_equal(p.class_name, rows[i][1], p.class_length);
		assert_int_equal(p.method_length, strlen(rows[i][2]));
		assert_memory_equal(p.method, rows[i][2], p.method_length);
		assert_string_equal(p.descriptor, rows[i][3]);
	}
}
