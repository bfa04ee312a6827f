/*
 * What several users share, and how much of it one of them may have: places in a table, bytes of
 * memory, work of the last seconds. What is counted is the caller's business, one number for it
 * all.
 *
 * A user is a uid. Administrators, and what schedules do, are SHARES_ADMINS together: they may have
 * all of it, and a part of it is reserved for them, so that others cannot keep them out. (A
 * window_asker's `sees` is such a user.)
 *
 * What lasts is taken and given back. What passes, as work does, is added and forgotten by halves.
 *
 * One thread. Memory: an entry for each user that has something.
 */
#ifndef JXPERF_DAEMON_SHARES_SHARES_H
#define JXPERF_DAEMON_SHARES_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/proc.h"

#define SHARES_ADMINS PROC_ANY_UID

/* For refusals: "user 1000 has 8 <things>, which is a user's share: <advice>". */
struct share_limits {
	const char *things;
	const char *advice;
	uint64_t all;
	uint64_t reserved; /* of these, for administrators */
	uint64_t of_user;  /* of one user who is none */
};

struct share_holder {
	uid_t user;
	uint64_t held; /* more than 0 */
};

struct shares {
	struct share_limits limits;
	struct share_holder *holders;
	size_t count, capacity;
	uint64_t held; /* by all of them */
};

/* All zero but for its limits, whose texts have to last. The limits may be changed at any time: who
 * has more than that keeps it. */
void shares_init(struct shares *s, const struct share_limits *limits);

/* Nobody has anything any more; the limits stay. */
void shares_release(struct shares *s);

/* How much the user has. */
uint64_t shares_of(const struct shares *s, uid_t user);

/* May the user have so much more? 0; -EDQUOT: it is more than the user's share; -ENOSPC: others
 * have the rest. With the reason in words. */
int shares_check(const struct shares *s, uid_t user, uint64_t amount, struct err *err);

/* The user has so much more, if shares_check says so: 0, or what that says, or -ENOMEM. */
int shares_take(struct shares *s, uid_t user, uint64_t amount, struct err *err);

/* The user has so much more in any case. 0 or -ENOMEM, when it is not counted. */
int shares_add(struct shares *s, uid_t user, uint64_t amount);

/* Gives back what was taken or added. */
void shares_give(struct shares *s, uid_t user, uint64_t amount);

/* The user has so much from now on, in any case: 0 or -ENOMEM, when it stays as it is. */
int shares_set(struct shares *s, uid_t user, uint64_t amount);

/* Where there is no room for one more of user's: does one of another's make way for it? Who has
 * more does, until both have as much, so that nobody drives out another. */
bool shares_makes_way(const struct shares *s, uid_t other, uid_t user);

/* Everybody has half of it: what was long ago counts for little. */
void shares_halve(struct shares *s);

#endif
