/* Every pair of states, legal or not, against the picture in docs/architecture.md; and every limit.
 */
#include "tests/unit/support/test.h"

#include "daemon/engine/run_state.h"

static const struct {
	enum run_state from, to;
} legal[] = {
    {RUN_WAITING, RUN_ATTACHING},         /* the JVM is free */
    {RUN_WAITING, RUN_ENDED},             /* stopped, or it is not */
    {RUN_ATTACHING, RUN_OPENING_GATE},    /* the agent is connected */
    {RUN_ATTACHING, RUN_CANCELLED},       /* stopped */
    {RUN_ATTACHING, RUN_ENDED},           /* no agent */
    {RUN_OPENING_GATE, RUN_GREETING},     /* with a gate or without */
    {RUN_OPENING_GATE, RUN_CANCELLED},    /* stopped */
    {RUN_OPENING_GATE, RUN_ENDED},        /* no answer */
    {RUN_CANCELLED, RUN_ENDED},           /* whatever the answer is */
    {RUN_GREETING, RUN_RUNNING},          /* hello */
    {RUN_GREETING, RUN_BREAKING_OFF},     /* stopped, or another protocol */
    {RUN_GREETING, RUN_CLOSING_GATE},     /* no hello, or nothing to do */
    {RUN_RUNNING, RUN_STOPPING},          /* stopped, or its time is over */
    {RUN_RUNNING, RUN_LEAVING},           /* the agent ended by itself */
    {RUN_RUNNING, RUN_BREAKING_OFF},      /* the agent does not read */
    {RUN_RUNNING, RUN_CLOSING_GATE},      /* the agent is gone */
    {RUN_STOPPING, RUN_LEAVING},          /* the agent ended */
    {RUN_STOPPING, RUN_BREAKING_OFF},     /* the agent does not read */
    {RUN_STOPPING, RUN_CLOSING_GATE},     /* it did not end, or is gone */
    {RUN_LEAVING, RUN_BREAKING_OFF},      /* the agent does not read */
    {RUN_LEAVING, RUN_CLOSING_GATE},      /* the agent has left */
    {RUN_BREAKING_OFF, RUN_CLOSING_GATE}, /* from the loop */
    {RUN_CLOSING_GATE, RUN_ENDED},        /* with the last counts or without */
};

static bool is_legal(enum run_state from, enum run_state to)
{
	for (size_t i = 0; i < sizeof(legal) / sizeof(legal[0]); i++)
		if (legal[i].from == from && legal[i].to == to)
			return true;
	return false;
}

TEST(every_transition_is_legal_or_not_as_drawn)
{
	for (int from = 0; from < RUN_STATES; from++)
		for (int to = 0; to < RUN_STATES; to++)
			if (run_state_may_follow((enum run_state)from, (enum run_state)to) !=
			    is_legal((enum run_state)from, (enum run_state)to))
				fail_msg("from %d to %d", from, to);
}

/* The states after from, each at most once on a way: how many ways do not come to ENDED? */
static int lost_ways(enum run_state from, unsigned seen)
{
	bool end = true;
	int lost = 0;

	if (from == RUN_ENDED)
		return 0;
	if (seen & 1u << from)
		return 1; /* Round in circles. */
	for (int to = 0; to < RUN_STATES; to++)
		if (run_state_may_follow(from, (enum run_state)to)) {
			end = false;
			lost += lost_ways((enum run_state)to, seen | 1u << from);
		}
	return lost + end;
}

TEST(every_way_leads_to_the_end)
{
	assert_int_equal(lost_ways(RUN_WAITING, 0), 0);
}

TEST(every_state_but_the_last_has_a_limit)
{
	static const struct run_limits limits = {
	    .patience_ms = 30, .attach_ms = 9, .duration_ms = 7};
	static const uint64_t expected[RUN_STATES] = {
	    [RUN_WAITING] = RUN_WAITING_MS,   [RUN_ATTACHING] = 39,
	    [RUN_OPENING_GATE] = 30,          [RUN_CANCELLED] = RUN_SAME_LIMIT,
	    [RUN_GREETING] = RUN_GREETING_MS, [RUN_RUNNING] = 7,
	    [RUN_STOPPING] = RUN_STOPPING_MS, [RUN_LEAVING] = RUN_LEAVING_MS,
	    [RUN_BREAKING_OFF] = 0,           [RUN_CLOSING_GATE] = 30,
	    [RUN_ENDED] = RUN_NO_LIMIT,
	};

	for (int s = 0; s < RUN_STATES; s++)
		assert_int_equal(run_state_limit_ms((enum run_state)s, &limits), expected[s]);
}
