#include "tests/unit/support/test.h"

#include "proto/failure.h"
#include "proto/limits.h"

TEST(a_failure_arrives_as_it_was_said)
{
	struct failure_reply f;
	uint8_t bytes[256];
	Jxp__ControlReply *reply;
	size_t size;

	failure_reply_init(&f, "'x' is not a pid", true);
	size = jxp__control_reply__get_packed_size(&f.reply);
	assert_true(size <= sizeof(bytes));
	reply = jxp__control_reply__unpack(NULL, jxp__control_reply__pack(&f.reply, bytes), bytes);
	assert_non_null(reply);
	assert_int_equal(reply->protocol, PROTOCOL_VERSION);
	assert_int_equal(reply->body_case, JXP__CONTROL_REPLY__BODY_FAILURE);
	assert_string_equal(reply->failure->message, "'x' is not a pid");
	assert_true(reply->failure->usage);
	jxp__control_reply__free_unpacked(reply, NULL);
}
