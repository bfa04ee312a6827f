#include "tests/unit/support/test.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/frame.h"
#include "proto/jxperf.pb-c.h"
#include "tests/unit/support/broker_peer.h"

TEST(a_process_is_watched_until_it_is_released, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_WATCH);
	uint8_t bytes[1024];
	ssize_t n;

	peer_start("ok");
	assert_int_equal(peer_ask(&r), 0);
	assert_int_equal(peer.reply.fds, 1);
	for (int records = 0; records < 2; records++) {
		Jxp__WatchRecord *record;
		size_t size;

		assert_int_equal(recv(peer.fds[0], bytes, FRAME_HEADER_BYTES, MSG_WAITALL),
				 FRAME_HEADER_BYTES);
		size = bytes[0] | (size_t)bytes[1] << 8;
		assert_int_equal(recv(peer.fds[0], bytes, size, MSG_WAITALL), size);
		record = jxp__watch_record__unpack(NULL, size, bytes);
		assert_non_null(record);
		assert_true(record->page_faults > 0 && record->uptime_ns > 0);
		assert_non_null(strstr(record->no_data, "no performance data"));
		jxp__watch_record__free_unpacked(record, NULL);
	}
	r.operation = BROKER_RELEASE;
	assert_int_equal(send(peer.socket, &r, sizeof(r), 0), sizeof(r));
	while ((n = read(peer.fds[0], bytes, sizeof(bytes))) > 0)
		;
	assert_int_equal(n, 0);
}

TEST(a_watcher_of_a_process_that_does_not_exist_ends, peer_set_up, peer_tear_down)
{
	struct broker_request r = peer_request(BROKER_WATCH);
	char byte;

	peer_start("ok");
	r.pid = 0x3fffff;
	assert_int_equal(peer_ask(&r), 0);
	assert_int_equal(read(peer.fds[0], &byte, 1), 0);
	r.pid = 0;
	assert_int_equal(peer_ask(&r), EINVAL);
}

int main(int argc, char **argv)
{
	return broker_fixture_tests(argc, argv);
}
