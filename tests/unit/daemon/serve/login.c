#include "tests/unit/support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/serve/login.h"
#include "tests/unit/support/fake_broker.h"

struct answer {
	unsigned times;
	bool known;
	uid_t uid;
};

static void on_login(void *arg, bool known, uid_t uid)
{
	struct answer *a = arg;

	*a = (struct answer){a->times + 1, known, uid};
}

/* A child at the other end of a socket that is ours. */
static pid_t start_peer(int *ours)
{
	char byte;
	pid_t child;

	fake_broker = (struct fake_broker){.tells_login = true};
	/* The kernel's word for the peer of a pair is who made it: so the child does, by connecting
	 * to a socket without a name. */
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);
	struct sockaddr any = {.sa_family = AF_UNIX};

	assert_int_equal(bind(listener, &any, sizeof(any.sa_family)), 0); /* autobind */
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int own = socket(AF_UNIX, SOCK_STREAM, 0);

		if (connect(own, (struct sockaddr *)&address, size) < 0)
			_exit(1);
		(void)read(own, &byte, 1); /* Until it is killed. */
		_exit(0);
	}
	*ours = accept(listener, NULL, NULL);
	assert_true(*ours >= 0);
	(void)close(listener);
	return child;
}

static void end_peer(pid_t child)
{
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(what_the_broker_says_of_a_process_that_is_still_there_holds)
{
	struct answer answer = {0};
	struct login login = {0};
	int ours;
	pid_t child = start_peer(&ours);
	struct window_asker who = {.uid = geteuid(), .pid = child};

	assert_true(login_ask(&login, NULL, ours, &who, on_login, &answer));
	fake_broker_answer_login(0, 1000);
	assert_true(answer.times == 1 && answer.known && answer.uid == 1000);
	assert_true(login_ask(&login, NULL, ours, &who, on_login, &answer));
	fake_broker_answer_login(0, PROC_ANY_UID); /* Nobody has. */
	assert_true(answer.times == 2 && !answer.known);
	end_peer(child);
	(void)close(ours);
}

/* Its pid may have been another's when the broker looked. */
TEST(what_the_broker_says_of_a_process_that_has_ended_does_not)
{
	struct answer answer = {0};
	struct login login = {0};
	int ours;
	pid_t child = start_peer(&ours);
	struct window_asker who = {.uid = geteuid(), .pid = child};

	assert_true(login_ask(&login, NULL, ours, &who, on_login, &answer));
	end_peer(child);
	fake_broker_answer_login(0, 1000);
	assert_true(answer.times == 1 && !answer.known);
	(void)close(ours);
}

TEST(nobody_is_asked_of_a_process_that_nobody_knows)
{
	const struct window_asker who = {.uid = geteuid(), .pid = 0};
	struct login login = {0};

	fake_broker = (struct fake_broker){.tells_login = true};
	assert_false(login_ask(&login, NULL, -1, &who, on_login, NULL));
	login_forget(&login);
}
