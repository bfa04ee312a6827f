/* Code that JVMs compiled (tests/unit/profile/loops/codes: the method, the JDK, the collector),
 * taken apart. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_ANALYSED_CODE_H
#define JXPERF_TESTS_UNIT_SUPPORT_ANALYSED_CODE_H

#include "profile/loops/code_analysis.h"
#include "tests/unit/support/code_file.h"

#define CODES "tests/unit/profile/loops/codes/"

struct analysed {
	struct code_image image;
	struct code_analysis a;
};

static void analyse(struct analysed *x, const char *name)
{
	char path[128];

	*x = (struct analysed){0};
	(void)snprintf(path, sizeof(path), CODES "%s.code", name);
	if (!code_file_read(&x->image, path))
		fail_msg("no file %s", path);
	assert_int_equal(code_analysis_make(&x->a, &x->image), 0);
}

static void release(struct analysed *x)
{
	code_analysis_release(&x->a);
	code_image_release(&x->image);
}

#endif
