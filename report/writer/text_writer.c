#include "report/writer/text_writer.h"
#include "profile/certainty.h"

#include <assert.h>
#include <string.h>

#include "report/content/scaffolding.h"
#include "report/content/names.h"
#include "report/writer/text_places.h"
#include "proto/limits.h"

#define RULE_COLUMNS 80
#define WRAP_COLUMNS 100

void report_text_rule(FILE *out, const char *title)
{
	int left = (RULE_COLUMNS - (int)(title ? strlen(title) : 0)) / 2;

	for (int i = 0; i < RULE_COLUMNS; i++) {
		if (title && i == left) {
			fputs(title, out);
			i += (int)strlen(title) - 1;
		} else {
			fputc(title ? '*' : '-', out);
		}
	}
	fputc('\n', out);
}

void report_text_wrapped(FILE *out, const char *text, size_t columns)
{
	size_t column = 0;

	if (columns == 0)
		columns = WRAP_COLUMNS;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > 0 && column + 1 + word > columns) {
			fputc('\n', out);
			column = 0;
		}
		if (column > 0)
			fputc(' ', out);
		fprintf(out, "%.*s", (int)word, text);
		column += word + (column > 0);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* ---------------------------------------------------------------- recursion */

/* Frames that come again and again, one behind the other, by one method that calls itself or by a
 * few that call each other. Written out, a thousand of them say no more than one turn and how many
 * there are. Frames are the same if they would be written alike. */
struct recursion {
	size_t frames; /* of one turn, */
	size_t times;  /* and how many turns follow each other; 1: no recursion */
};

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

/* The recursion that begins with the last of these nodes, which are leaf first: so turns go on
 * toward path[0]. count is at least 1. Only what makes the text shorter is recursion, which takes a
 * line more. */
static struct recursion recursion_find(const struct cct *tree, const uint32_t *path, size_t count)
{
	for (size_t frames = 1; frames <= CCT_TURN_MAX && frames < count; frames++) {
		size_t times = turns(tree, path, count, frames);

		if ((times - 1) * frames > 1)
			return (struct recursion){frames, times};
	}
	return (struct recursion){1, 1};
}

/* ---------------------------------------------------------------- paths */

/* The group of a frame that is scaffolding, or NULL. */
static const char *scaffolding_of(const struct profile *p, uint32_t id)
{
	struct method_names names = frame_names(p, id);
	const struct scaffolding *found =
	    names.known ? scaffolding_find(names.class_name, names.name) : NULL;

	return found ? found->group : NULL;
}

/* Writes one frame of those above a leaf, or one turn of a recursion and how many there are;
 * returns of how many frames that tells. path: leaf first, of which left are still to be written.
 */
static size_t turn(FILE *out, const struct profile *p, const uint32_t *path, size_t left)
{
	struct recursion r = recursion_find(&p->cct, path + 1, left - 1);

	for (size_t i = 0; i < r.frames && i + 1 < left; i++) {
		report_text_frame(out, p, path[left - 1 - i]);
		fputc('\n', out);
	}
	if (r.times > 1 && r.frames > 1)
		fprintf(out, "... (the %zu frames above, %zu times)\n", r.frames, r.times);
	else if (r.times > 1)
		fprintf(out, "... (the frame above, %zu times)\n", r.times);
	return r.frames * r.times;
}

/* Writes one frame of those above a leaf, or those that are told together; returns how many. path:
 * leaf first, of which left are still to be written. */
static size_t frames(FILE *out, const struct profile *p, const uint32_t *path, size_t left)
{
	const char *groups[SCAFFOLDING_ROWS];
	size_t count = 0, group_count = 0;

	for (; count < left - 1; count++) {
		const char *group = scaffolding_of(p, path[left - 1 - count]);
		size_t known = 0;

		if (!group)
			break;
		while (known < group_count && strcmp(groups[known], group) != 0)
			known++;
		if (known == group_count)
			groups[group_count++] = group;
	}
	if (count == 0)
		return turn(out, p, path, left);
	fprintf(out, "... (%zu frame%s of ", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < group_count; i++)
		fprintf(out, "%s%s", i ? ", " : "", groups[i]);
	fputs(")\n", out);
	return count;
}

/* The nodes of a calling context, leaf first; returns how many. The tree admits no deeper path. */
static size_t path_of(const struct cct *tree, uint32_t leaf, uint32_t path[MAX_FRAMES_LIMIT])
{
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(tree, id)->parent)
		path[depth++] = id;
	return depth;
}

size_t report_text_common(const struct profile *p, uint32_t leaf, uint32_t other, uint32_t *last)
{
	uint32_t one_path[MAX_FRAMES_LIMIT], other_path[MAX_FRAMES_LIMIT];
	size_t one = path_of(&p->cct, leaf, one_path), two = path_of(&p->cct, other, other_path);
	size_t common = 0;

	/* Equal contexts are one node of the tree. */
	while (common + 1 < one && common + 1 < two &&
	       one_path[one - 1 - common] == other_path[two - 1 - common])
		common++;
	*last = common > 0 ? one_path[one - common] : 0;
	return common;
}

void report_text_path(FILE *out, const struct profile *p, uint32_t leaf, const char *label,
		      size_t left_out)
{
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = path_of(&p->cct, leaf, path);

	assert(left_out == 0 || left_out < depth);
	depth -= left_out;
	while (depth > 1 && !ferror(out))
		depth -= frames(out, p, path, depth);
	if (label)
		fprintf(out, "%s: ", label);
	if (leaf)
		report_text_frame(out, p, leaf);
	else
		fputs("[calling context unknown]", out);
	fputc('\n', out);
}
