#include "daemon/shares/shares.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/saturate.h"

void shares_init(struct shares *s, const struct share_limits *limits)
{
	*s = (struct shares){.limits = *limits};
}

void shares_release(struct shares *s)
{
	free(s->holders);
	*s = (struct shares){.limits = s->limits};
}

static struct share_holder *find(const struct shares *s, uid_t user)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->holders[i].user == user)
			return &s->holders[i];
	return NULL;
}

uint64_t shares_of(const struct shares *s, uid_t user)
{
	const struct share_holder *holder = find(s, user);

	return holder ? holder->held : 0;
}

/* Does it fit into what is left of what all may have, when others have so much? */
static bool fits(uint64_t limit, uint64_t held, uint64_t amount)
{
	return amount <= saturate_less(limit, held);
}

int shares_check(const struct shares *s, uid_t user, uint64_t amount, struct err *err)
{
	const struct share_limits *l = &s->limits;
	uint64_t own = shares_of(s, user), admins = shares_of(s, SHARES_ADMINS);
	uint64_t reserved = user == SHARES_ADMINS ? 0 : saturate_less(l->reserved, admins);

	if (user != SHARES_ADMINS && !fits(l->of_user, own, amount))
		return err_set(err, EDQUOT,
			       "user %u has %" PRIu64 " %s, which is a user's share: %s", user, own,
			       l->things, l->advice);
	if (!fits(saturate_less(l->all, reserved), s->held, amount))
		return err_set(err, ENOSPC, "there are %" PRIu64 " %s, which is the limit: %s",
			       s->held, l->things, l->advice);
	return 0;
}

int shares_take(struct shares *s, uid_t user, uint64_t amount, struct err *err)
{
	int r = shares_check(s, user, amount, err);

	if (r == 0)
		r = shares_add(s, user, amount);
	return r == -ENOMEM ? err_set(err, ENOMEM, "out of memory") : r;
}

int shares_add(struct shares *s, uid_t user, uint64_t amount)
{
	struct share_holder *holder = find(s, user);
	int r;

	if (amount == 0)
		return 0;
	if (!holder) {
		r = array_reserve(&s->holders, &s->capacity, s->count + 1, sizeof(*s->holders));
		if (r < 0)
			return r;
		holder = &s->holders[s->count++];
		*holder = (struct share_holder){.user = user};
	}
	holder->held += amount;
	s->held += amount;
	return 0;
}

static void forget_if_empty(struct shares *s, struct share_holder *holder)
{
	if (holder->held == 0)
		*holder = s->holders[--s->count];
}

void shares_give(struct shares *s, uid_t user, uint64_t amount)
{
	struct share_holder *holder = find(s, user);

	if (amount == 0)
		return;
	assert(holder && holder->held >= amount);
	holder->held -= amount;
	s->held -= amount;
	forget_if_empty(s, holder);
}

int shares_set(struct shares *s, uid_t user, uint64_t amount)
{
	uint64_t has = shares_of(s, user);

	if (amount >= has)
		return shares_add(s, user, amount - has);
	shares_give(s, user, has - amount);
	return 0;
}

bool shares_makes_way(const struct shares *s, uid_t other, uid_t user)
{
	return shares_of(s, other) > shares_of(s, user) + 1;
}

void shares_halve(struct shares *s)
{
	s->held = 0;
	for (size_t i = s->count; i-- > 0;) {
		s->holders[i].held /= 2;
		s->held += s->holders[i].held;
		forget_if_empty(s, &s->holders[i]);
	}
}
