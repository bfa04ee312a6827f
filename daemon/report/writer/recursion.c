#include "daemon/report/writer/recursion.h"

#include <stdbool.h>

#include "daemon/profile/certainty.h"

/* Is nothing but the compiled method told? */
static bool is_method_alone(const struct cct_node *n)
{
	return n->certainty == CERTAINTY_METHOD && n->bci < 0;
}

static bool same_frame(const struct cct *tree, uint32_t a, uint32_t b)
{
	const struct cct_node *x = cct_node(tree, a), *y = cct_node(tree, b);

	return x->method == y->method && x->line == y->line &&
	       (x->tier == JXP__TIER__TIER_NATIVE) == (y->tier == JXP__TIER__TIER_NATIVE) &&
	       is_method_alone(x) == is_method_alone(y);
}

/* How many whole turns of so many frames. */
static size_t turns(const struct cct *tree, const uint32_t *path, size_t count, size_t frames)
{
	size_t same = 0;

	while (same + frames < count &&
	       same_frame(tree, path[count - 1 - same], path[count - 1 - same - frames]))
		same++;
	return 1 + same / frames;
}

struct recursion recursion_find(const struct cct *tree, const uint32_t *path, size_t count)
{
	for (size_t frames = 1; frames <= RECURSION_TURN_MAX && frames < count; frames++) {
		size_t times = turns(tree, path, count, frames);

		if ((times - 1) * frames > 1)
			return (struct recursion){frames, times};
	}
	return (struct recursion){1, 1};
}
