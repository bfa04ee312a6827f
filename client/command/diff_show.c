#include "client/command/diff_show.h"

#include <errno.h>
#include <stdio.h>

#include "client/command/parse.h"
#include "client/output/output.h"
#include "common/cleanup.h"
#include "common/json.h"
#include "compare/output.h"

#define ROWS_OF_TEXT 10u
#define ROWS_OF_JSON 1000u

/* 1 had the difference of checked bytes that daemons made, "cpu" beside it. */
#define DIFF_SCHEMA 2

/* "1200,1650". */
static int set_operations(const char *text, void *field, struct err *err)
{
	double *operations = field, a, b;
	int end = 0;

	if (sscanf(text, "%lf,%lf%n", &a, &b, &end) != 2 || text[end] || !(a > 0) || !(b > 0) ||
	    a > 1e15 || b > 1e15)
		return err_set(err, EINVAL,
			       "'%s' is not how many operations a second were done in each: use "
			       "two numbers like 1200,1650",
			       text);
	operations[0] = a;
	operations[1] = b;
	return 0;
}

#define FIELD(member) .field = offsetof(struct diff_shown, member)

static const char *const formats[] = {"text", "json", "html", NULL};
static const Jxp__Format shown_as[] = {
    [DIFF_TEXT] = JXP__FORMAT__FORMAT_TEXT,
    [DIFF_JSON] = JXP__FORMAT__FORMAT_JSON,
    [DIFF_HTML] = JXP__FORMAT__FORMAT_HTML,
};

const struct argument_option diff_show_arguments[] = {
    {.group = output_arguments, FIELD(output)},
    {.name = "format",
     .type = ARGUMENT_CHOICE,
     FIELD(format),
     .names = formats,
     .least = DIFF_TEXT,
     .noun = "a format of differences",
     .value = "F",
     .unset = "text, or json with --json"},
    {.name = "rows",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(rows),
     .value = "N",
     .help = "show at most N differences"},
    {.name = "fail-above",
     .type = ARGUMENT_FRACTION,
     FIELD(fail_above),
     .value = "P",
     .help = "exit with 5 where a rise of more than P of the CPU time is shown, like 2%"},
    {.name = "operations",
     .type = ARGUMENT_PARSED,
     .parse = set_operations,
     FIELD(operations),
     .value = "A,B",
     .help = "how many operations a second were done in each: compare their CPU time"},
    {0},
};

/* ---------------------------------------------------------------- what there is */

struct found {
	struct compare_side sides[2];
	struct comparison comparison;
	struct compare_gate gate;
};

static void found_release(struct found *f)
{
	comparison_release(&f->comparison);
	compare_side_release(&f->sides[0]);
	compare_side_release(&f->sides[1]);
}

static int find(const struct diff_shown *o, const struct diff_loader *l, struct found *f,
		struct err *err)
{
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++)
		r = l->load(l->context, i, &f->sides[i], err);
	if (r == 0)
		r = comparison_init(&f->comparison, f->sides,
				    o->operations[0] > 0 ? o->operations : NULL, err);
	if (r == 0 && o->fail_above > 0)
		f->gate = compare_gate_judge(&f->comparison, o->fail_above);
	return r;
}

/* ---------------------------------------------------------------- what is said */

static const struct compare_gate *gate_of(const struct diff_shown *o, const struct found *f)
{
	return o->fail_above > 0 ? &f->gate : NULL;
}

static int write_json(FILE *out, const struct diff_shown *o, const struct found *f)
{
	bool cpu = f->comparison.unit == COMPARE_CPU;
	bool page = o->format == DIFF_HTML;
	json_t *compared =
	    compare_json(&f->comparison, gate_of(o, f), o->rows ? o->rows : ROWS_OF_JSON);
	json_t *document =
	    JSON_OBJECT({"schema", json_integer(DIFF_SCHEMA)},
			{"diff", JSON_OBJECT({"unit", json_string(cpu ? "cpu" : "bytes")},
					     {"cpu", cpu ? compared : json_null()},
					     {"bytes", cpu ? json_null() : compared})});
	int r;

	if (page)
		document = json_with(document, "tree", compare_tree_json(&f->comparison.tree));
	r = document ? json_dumpf(document, out,
				  (page ? JSON_COMPACT : JSON_INDENT(1)) | JSON_REAL_PRECISION(9))
		     : -1;
	json_decref(document);
	return r < 0 || fputc('\n', out) == EOF ? -ENOMEM : 0;
}

static int render(const struct diff_shown *o, const struct found *f, char **text, size_t *size,
		  struct err *err)
{
	FILE *out = open_memstream(text, size);
	int r = 0;

	if (!out)
		return err_set(err, ENOMEM, "out of memory for the difference");
	if (o->format != DIFF_TEXT)
		r = write_json(out, o, f);
	else
		compare_text_write(out, &f->comparison, gate_of(o, f),
				   o->rows ? o->rows : ROWS_OF_TEXT);
	if (fclose(out) != 0 || r < 0)
		return err_set(err, ENOMEM, "out of memory for the difference");
	return 0;
}

/* ---------------------------------------------------------------- all of it */

int diff_show(struct diff_shown *o, struct client *c, struct command_call *call,
	      const struct diff_loader *loader, struct err *err)
{
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_(found_release) struct found found = {.gate = {.above = 0}};
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	if (o->format == DIFF_UNASKED)
		o->format = c->json ? DIFF_JSON : DIFF_TEXT;
	if ((r = output_open_report(&output, o->output, shown_as[o->format], err)) < 0 ||
	    (r = find(o, loader, &found, err)) < 0)
		return r;
	client_release(c); /* Printing may take as long as somebody reads. */
	r = render(o, &found, &text, &size, err);
	if (r == 0)
		r = output_commit(&output, text, size, err);
	if (r < 0)
		return r;
	if (o->fail_above > 0 && found.gate.fails) {
		(void)err_set(err, 1, "%s, and --fail-above allows %g%%", found.gate.reason,
			      100 * o->fail_above);
		(void)command_fail(-1, err);
		call->exit_status = EXIT_ROSE;
	}
	return 0;
}
