/* What is measured when a window begins, in a thread that blocks all signals as the session thread
 * does. */
#include "tests/unit/support/test.h"

#include <signal.h>

#include "attach/agent/handler/handlers.h"
#include "attach/agent/handler/sampler.h"
#include "attach/agent/handler/thread.h"
#include "attach/agent/window/calibrate.h"
#include "tests/unit/support/agent/registers.h"

TEST(a_signal_is_measured_and_none_is_left_pending)
{
	struct calibration machine = {0};
	sigset_t all, now;

	assert_int_equal(threads_init(), 0);
	assert_int_equal(signals_install(&sampler_clock), 0);
	atomic_store(&handlers.stopping, false);
	(void)sigfillset(&all);
	assert_int_equal(sigprocmask(SIG_SETMASK, &all, NULL), 0);
	assert_int_equal(calibrate_signal(&machine), 0);
	assert_true(machine.signals.tick_ns > 0);
	assert_int_equal(sigpending(&now), 0);
	assert_false(sigismember(&now, SIGTRAP));
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &now), 0);
	assert_true(sigismember(&now, SIGTRAP));
	assert_int_equal(threads_in_use(), 0);
	assert_int_equal(registers_take_handler_away(), 0);
}
