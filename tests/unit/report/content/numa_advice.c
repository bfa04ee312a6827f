#include "tests/unit/support/test.h"

#include <string.h>

#include "report/content/numa_advice.h"

/* Positions 0, 1 and 2; ids as a machine may have them. */
static const struct numa_topology topology = {.node_count = 3, .node_id = {0, 2, 7}};

/* A hundred accesses from node 2 to pages of node 0, which initialised them. */
static const struct numa_site remote = {.samples = 100,
					.accessed_from = {[1] = 100},
					.page_on = {[0] = 100},
					.allocated_on = {[0] = 100},
					.first_touch = {[0] = 100},
					.remote = 100};

static char text[NUMA_ADVICE_BYTES];

static void expect(const struct numa_site *site, bool pretouched, const char *words)
{
	text[0] = '\0';
	assert_true(numa_advice(site, &topology, pretouched, text));
	assert_non_null(strstr(text, words));
}

TEST(too_little_is_no_reason_to_advise)
{
	struct numa_site site = remote;

	site.samples = 19;
	assert_false(numa_advice(&site, &topology, false, text));
	site.samples = 20;
	assert_true(numa_advice(&site, &topology, false, text));
	site.local = 234; /* 29.9% remote */
	assert_false(numa_advice(&site, &topology, false, text));
	site.local = 233; /* 30.03% */
	assert_true(numa_advice(&site, &topology, false, text));
}

TEST(who_initialises_is_not_who_uses)
{
	expect(&remote, false, "initialised on node 0, accessed from node 2: ");
	assert_non_null(strstr(text, "or keep them on node 0"));
}

TEST(pages_on_several_nodes)
{
	struct numa_site site = remote;

	site.page_on[0] = 79;
	site.page_on[2] = 21;
	expect(&site, false, "pages lie on several nodes");
	site.page_on[0] = 81;
	site.page_on[2] = 19;
	expect(&site, false, "initialised on node 0");
}

TEST(accesses_from_several_nodes)
{
	struct numa_site site = remote;

	site.accessed_from[1] = 60;
	site.accessed_from[2] = 40;
	expect(&site, false, "all pages lie on node 0, and threads of several nodes");
}

TEST(pages_that_were_touched_before_the_objects_came)
{
	struct numa_site site = remote;

	expect(&site, true, "(AlwaysPreTouch)");
	site.allocated_on[0] = 0;
	site.allocated_on[1] = 100; /* by those who use them */
	expect(&site, false, "threads of node 2 access pages of node 0");
	assert_non_null(strstr(text, "by the collector, or an earlier use"));
	/* They touched the pages first themselves: it was no earlier use. */
	site.first_touch[0] = 0;
	site.first_touch[1] = 100;
	expect(&site, false, "initialised on node 0");
}

TEST(what_is_not_known_is_no_evidence)
{
	struct numa_site site = remote;

	memset(site.page_on, 0, sizeof(site.page_on));
	assert_false(numa_advice(&site, &topology, false, text));
}
