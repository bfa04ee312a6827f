/* An empty object profile for each test, and what tests of it name. */
#ifndef TESTS_UNIT_OBJECT_PROFILE_FIXTURE_H
#define TESTS_UNIT_OBJECT_PROFILE_FIXTURE_H

#include "profile/object_profile.h"
#include "proto/jxperf.pb-c.h"

#define HEAP JXP__REGION__REGION_HEAP

static int set_up(void **state)
{
	static struct object_profile l;

	l = (struct object_profile){0};
	*state = &l;
	return 0;
}

static int tear_down(void **state)
{
	object_profile_release(*state);
	return 0;
}

#endif
