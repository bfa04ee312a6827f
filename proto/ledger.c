#include "proto/ledger.h"

const struct ledger_row ledger_table[LEDGER_ACCOUNTS] = {
    [LEDGER_TICKS] = {.most = 1, .least = 0.1, .within = LEDGER_TICKS, .when_short = LEDGER_YIELDS},
    [LEDGER_LOOPS] = {.most = 0.4, .within = LEDGER_TICKS},
    [LEDGER_GUESTS] = {.most = 0.1, .within = LEDGER_TICKS},
    [LEDGER_BESIDE] = {.most = 0.5, .within = LEDGER_BESIDE},
    [LEDGER_SETUP] = {.most = 0.5, .within = LEDGER_BESIDE},
    [LEDGER_SESSION] = {.most = 0.5, .within = LEDGER_BESIDE, .when_short = LEDGER_WAITS},
    [LEDGER_SCANS] = {.most = 0.1, .within = LEDGER_SESSION},
    [LEDGER_NEWS] = {.most = 0.1,
		     .of = LEDGER_OF_PROCESSOR,
		     .within = LEDGER_SESSION,
		     .when_short = LEDGER_WAITS},
    [LEDGER_IMAGES] = {.most = 0.1, .within = LEDGER_SESSION, .when_short = LEDGER_WAITS},
    /* Where collections come faster, epochs pass without being settled. */
    [LEDGER_PASSES] = {.most = 0.25, .of = LEDGER_OF_PROCESSOR, .within = LEDGER_SESSION},
    /* The most is what windows for objects alone have. The least is enough to tell which operations
     * allocate most: with 0.03 windows of 30 s of ten programs had 80 to 430 allocations, so that
     * operations which allocate as much had 20 each, and which of them led was chance. */
    [LEDGER_ALLOCATIONS] = {.most = 0.25, .least = 0.08, .within = LEDGER_SESSION},
    [LEDGER_OPEN] = {.most = 0.5, .within = LEDGER_BESIDE},
    /* Twice that before it is taken away again, so that it does not come and go. */
    [LEDGER_HELD] = {.most = 0.15, .of = LEDGER_OF_THREAD, .within = LEDGER_OPEN},
    [LEDGER_PHASES] = {.most = 0.4, .of = LEDGER_OF_THREAD, .within = LEDGER_OPEN},
    /* The longer pairs that it buys are few. */
    [LEDGER_REGISTERS] = {.most = 0.3, .of = LEDGER_OF_THREAD, .within = LEDGER_OPEN},
};

double ledger_most(const struct ledger *l, enum ledger_account account)
{
	return l->budget * ledger_table[account].most;
}

double ledger_due_ns(const struct ledger *l, enum ledger_account account)
{
	return ledger_most(l, account) * (double)l->cpu_ns;
}

double ledger_left_ns(const struct ledger *l, enum ledger_account account)
{
	return ledger_due_ns(l, account) - (double)l->spent_ns[account];
}

double ledger_apart_ns(const struct ledger *l, enum ledger_account account, double cost_ns)
{
	return cost_ns / ledger_most(l, account);
}

uint64_t ledger_overhead_ns(const struct ledger *l)
{
	return l->spent_ns[LEDGER_TICKS] + l->spent_ns[LEDGER_SESSION] + l->spent_ns[LEDGER_OPEN];
}

bool ledger_affords(const struct ledger *l, enum ledger_account account)
{
	return ledger_table[account].when_short != LEDGER_WAITS ||
	       ledger_left_ns(l, LEDGER_SESSION) > 0;
}

/* Accounts that are directly within this one. */
static uint64_t spent_within(const struct ledger *l, enum ledger_account account)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < LEDGER_ACCOUNTS; i++)
		if (ledger_table[i].within == account && i != account)
			ns += l->spent_ns[i];
	return ns;
}

double ledger_left_for_ticks(const struct ledger *l)
{
	uint64_t beside_ns = spent_within(l, LEDGER_BESIDE);
	double beside = (double)beside_ns / (double)l->cpu_ns;
	double most = ledger_most(l, LEDGER_BESIDE),
	       least = l->budget * ledger_table[LEDGER_TICKS].least;
	double left = l->budget - (beside < most ? beside : most);
	double unspent =
	    l->budget - (double)(beside_ns + l->spent_ns[LEDGER_TICKS]) / (double)l->cpu_ns;
	double comes_back = l->budget * LEDGER_UNSPENT_MOST;

	if (unspent < 0)
		left += 2 * unspent;
	else
		left += unspent < comes_back ? unspent : comes_back;
	return left > least ? left : least;
}
