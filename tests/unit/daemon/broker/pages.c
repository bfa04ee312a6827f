#include "tests/unit/support/test.h"

#include <errno.h>

#include "tests/unit/support/broker_peer.h"

TEST(pages_of_an_attached_process_are_found, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_PAGES);

	r.page_count = 2;
	r.pages[0] = (uint64_t)(uintptr_t)&peer + 1; /* The target is a copy of us. */
	r.pages[1] = 0;
	peer_start("ok");
	assert_int_equal(peer_ask(&r), EPERM);
	assert_int_equal(peer_attach(), 0);
	assert_int_equal(peer_ask(&r), 0);
	assert_int_equal(peer.reply.fds, 0);
	assert_true(peer.reply.nodes[0] >= 0);
	assert_int_equal(peer.reply.nodes[1], -1);
	r.page_count = BROKER_PAGES_MAX + 1;
	assert_int_equal(peer_ask(&r), EINVAL);
	r.page_count = 0;
	assert_int_equal(peer_ask(&r), EINVAL);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
