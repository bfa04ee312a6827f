/* The problems as SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), so that they stand
 * at their lines where code is reviewed and edited: a result each. Both accesses of the largest
 * pair are code flows, root first. */
#include "report/formats.h"

#include <errno.h>
#include <string.h>

#include "common/json.h"
#include "profile/window/result.h"
#include "report/content/names.h"
#include "report/text_parts.h"
#include "report/writer/text_places.h"
#include "proto/limits.h"
#include "proto/words.h"

#define SCHEMA                                                                \
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/" \
	"sarif-schema-2.1.0.json"

/* The folder that packages are in. Who reads the document knows where that is. */
#define SOURCES "SRCROOT"

/* ---------------------------------------------------------------- texts */

struct text {
	FILE *out;
	char *bytes;
	size_t size;
};

/* False without memory. */
static bool text_open(struct text *t)
{
	t->out = open_memstream(&t->bytes, &t->size);
	return t->out != NULL;
}

/* What was written; NULL without memory. */
static json_t *text_close(struct text *t)
{
	json_t *text = fclose(t->out) == 0 ? json_stringn(t->bytes, t->size) : NULL;

	free(t->bytes);
	return text;
}

static json_t *message_json(json_t *text)
{
	return json_pack("{s:o}", "text", text);
}

/* "CacheUtil.copy copies byte[]; 99% of ... are in vain. A rewrite could save ..." */
static json_t *sentences_json(const struct profile *p, const struct problem *problem)
{
	struct text t;

	if (!text_open(&t))
		return NULL;
	report_text_problem_sentence(t.out, p, problem, " ");
	fputc('.', t.out);
	if (problem->saved.known) {
		fputs(" Estimated: ", t.out);
		report_text_problem_saved(t.out, problem);
		fputc('.', t.out);
	}
	return text_close(&t);
}

/* ---------------------------------------------------------------- where */

/* A segment of a URI's path. */
static void percent_encoded(FILE *out, const char *text, size_t length)
{
	static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789-._~";

	for (size_t i = 0; i < length; i++)
		fprintf(out, strchr(unreserved, text[i]) ? "%c" : "%%%02X", (unsigned char)text[i]);
}

/* "org/h2/mvstore/Page.java": the package's path, and the file. */
static json_t *uri_json(const struct method_names *names)
{
	const char *end = report_text_without_package(names->class_name);
	struct text t;

	if (!text_open(&t))
		return NULL;
	for (const char *c = names->class_name; c < end;) {
		size_t length = strcspn(c, ".");

		percent_encoded(t.out, c, length);
		if (length > 0)
			fputc('/', t.out);
		c += length + 1;
	}
	percent_encoded(t.out, names->file, strlen(names->file));
	return text_close(&t);
}

/* The JVM tells a file's name; one that is no file in the package's folder is not told. */
static bool has_file(const struct method_names *names)
{
	return names->file[0] && strcmp(names->file, ".") != 0 && strcmp(names->file, "..") != 0;
}

/* Line 0 or less: not known. */
static json_t *location_json(const struct profile *p, uint32_t method, int32_t line)
{
	struct method_names names = method_names(p, method);
	json_t *location, *physical;

	location = json_pack("{s:[{s:s, s:o}]}", "logicalLocations", "kind", "function",
			     "fullyQualifiedName",
			     names.known ? json_sprintf("%s.%s", names.class_name, names.name)
					 : json_string(METHOD_UNKNOWN));
	if (!has_file(&names))
		return location;
	physical = json_pack("{s:{s:o, s:s}}", "artifactLocation", "uri", uri_json(&names),
			     "uriBaseId", SOURCES);
	if (line > 0)
		physical = json_with(physical, "region", json_pack("{s:i}", "startLine", line));
	return json_with(location, "physicalLocation", physical);
}

static json_t *node_location_json(const struct profile *p, uint32_t id)
{
	const struct cct_node *node = cct_node(&p->cct, id);

	return location_json(p, node->method, node->line);
}

/* The method's frame that is nearest to the leaf; 0 for none. */
static uint32_t frame_of(const struct profile *p, uint32_t leaf, uint32_t method)
{
	uint32_t id = leaf;

	while (id != 0 && cct_node(&p->cct, id)->method != method)
		id = cct_node(&p->cct, id)->parent;
	return id;
}

/* Where the method has most bytes allocated; 0: not known. */
static uint32_t allocating_frame(const struct report_model *m, uint32_t method)
{
	const struct object_ranking *ranking = &m->objects.ranking;
	double most = 0;
	uint32_t found = 0;

	for (size_t i = 0; i < ranking->count; i++) {
		const struct object_site *site = &ranking->sites[i].sum;
		uint32_t frame = frame_of(&m->window->profile, site->node, method);

		if (frame != 0 && site->alloc_bytes > most) {
			most = site->alloc_bytes;
			found = frame;
		}
	}
	return found;
}

/* The frame of the method, of the pair's access that is in vain or of the other one; that access
 * where neither has it. */
static uint32_t pair_frame(const struct profile *p, const struct problem *problem, uint32_t method)
{
	const struct pair *pair = problem->largest;
	bool first = pair_kind_find(problem->pairs_kind)->waste == PAIR_WASTE_OVERWRITTEN;
	uint32_t vain = first ? pair->watch_node : pair->trap_node;
	uint32_t other = first ? pair->trap_node : pair->watch_node;
	uint32_t frame = frame_of(p, vain, method);

	if (frame == 0)
		frame = frame_of(p, other, method);
	return frame != 0 ? frame : vain;
}

/* The operation's line. Of an operation of the JDK's basic packages it is its caller's: nobody has
 * the JDK's sources before him. */
static json_t *place_json(const struct report_model *m, const struct problem *problem)
{
	const struct problem_caller *caller = &problem->callers[0];
	bool is_callers = problem->basic && caller->part >= PROBLEM_CALLER_MIN;
	uint32_t method = is_callers ? caller->method : problem->method;
	const struct profile *p = &m->window->profile;
	uint32_t frame = 0;

	if (problem->largest)
		frame = pair_frame(p, problem, method);
	else if (problem->loop && problem->kind != PROBLEM_ALLOCATED)
		return location_json(p, problem->loop->row->key.method,
				     problem->loop->row->key.line);
	else
		frame = allocating_frame(m, method);
	return frame != 0 ? node_location_json(p, frame) : location_json(p, method, 0);
}

/* A calling context that is not empty. */
static json_t *flow_json(const struct profile *p, uint32_t leaf, json_t *text)
{
	json_t *steps = json_array();
	uint32_t path[MAX_FRAMES_LIMIT];
	size_t depth = 0;

	for (uint32_t id = leaf; id != 0; id = cct_node(&p->cct, id)->parent)
		path[depth++] = id; /* The tree admits no deeper path. */
	for (size_t level = 0; depth > 0; level++) {
		json_t *location = node_location_json(p, path[--depth]);

		if (depth == 0)
			location = json_with(location, "message", message_json(json_incref(text)));
		steps = json_appended(steps, json_pack("{s:o, s:i}", "location", location,
						       "nestingLevel", (int)level));
	}
	return json_pack("{s:o, s:[{s:o}]}", "message", message_json(text), "threadFlows",
			 "locations", steps);
}

static json_t *flows_json(const struct profile *p, const struct problem *problem)
{
	const struct pair *pair = problem->largest;
	const char *access = pair ? pair_kind_find(problem->pairs_kind)->access : "";
	json_t *flows = json_array();

	if (pair && pair->watch_node)
		flows = json_appended(
		    flows, flow_json(p, pair->watch_node, json_sprintf("%s here", access)));
	if (pair && pair->trap_node)
		flows = json_appended(
		    flows, flow_json(p, pair->trap_node, json_sprintf("%s again here", access)));
	return flows;
}

/* ---------------------------------------------------------------- results */

static json_t *properties_json(const struct problem *problem)
{
	const struct cpu_share *saved = &problem->saved;
	const struct interval *bounds = &problem->saved_bounds;

	return json_pack(
	    "{s:b, s:s, s:o, s:o, s:o}", "sure", problem->sure, "advice", problem->advice,
	    "saved_share", json_known(saved->known, saved->share), "saved_share_ci95",
	    saved->known ? json_interval(saved->ci95.low, saved->ci95.high) : json_null(),
	    "saved_bounds", saved->known ? json_interval(bounds->low, bounds->high) : json_null());
}

/* The same in each window that has the problem. */
static json_t *fingerprint_json(const struct profile *p, const struct problem *problem)
{
	struct method_names names = method_names(p, problem->method);

	return json_pack("{s:o}", "problem/v1",
			 json_sprintf("%s %s.%s", problem_words[problem->kind].name,
				      names.class_name, names.name));
}

static json_t *result_json(const struct report_model *m, const struct problem *problem)
{
	const struct profile *p = &m->window->profile;
	json_t *result =
	    json_pack("{s:s, s:i, s:s, s:o, s:[o], s:o, s:o, s:o}", "ruleId",
		      problem_words[problem->kind].name, "ruleIndex", (int)problem->kind, "level",
		      problem->sure ? "warning" : "note", "message",
		      message_json(sentences_json(p, problem)), "locations", place_json(m, problem),
		      "codeFlows", flows_json(p, problem), "partialFingerprints",
		      fingerprint_json(p, problem), "properties", properties_json(problem));

	if (problem->saved.known)
		result = json_with(result, "rank", json_real(100 * problem->saved.share));
	return result;
}

/* By their number in results. */
static json_t *rules_json(void)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < PROBLEM_KINDS; i++) {
		const struct problem_words *words = &problem_words[i];

		rules = json_appended(
		    rules,
		    json_pack(
			"{s:s, s:{s:o}, s:{s:o}}", "id", words->name, "shortDescription", "text",
			json_sprintf("An operation %s data%s, in vain.", words->verb, words->rest),
			"help", "text",
			json_sprintf("What has helped others: %s.", words->advice)));
	}
	return rules;
}

/* ---------------------------------------------------------------- the whole */

static json_t *with_time(json_t *object, const char *name, uint64_t unix_ns)
{
	char text[REPORT_TIME_BYTES];

	if (unix_ns == 0)
		return object;
	report_time(text, unix_ns);
	return json_with(object, name, json_string(text));
}

static json_t *invocation_json(const struct window_result *w)
{
	json_t *invocation =
	    json_pack("{s:b, s:{s:s, s:i, s:s, s:s, s:s}}", "executionSuccessful", 1, "properties",
		      "window", w->id, "pid", (int)w->pid, "jdk", w->jdk, "sampler",
		      name_of_sampler(w->findings.sampler), "state", window_result_state_name(w));

	invocation = with_time(invocation, "startTimeUtc", w->start_unix_ns);
	return with_time(invocation, "endTimeUtc", w->end_unix_ns);
}

static json_t *run_json(const struct report_model *m, size_t limit)
{
	const struct problems *problems = &m->problems;

	return json_pack(
	    "{s:{s:{s:s, s:s, s:o}}, s:{s:o}, s:{s:{s:{s:s}}}, s:[o], s:o}", "tool", "driver",
	    "name", "jxperf", "version", JXPERF_VERSION, "rules", rules_json(), "automationDetails",
	    "id", json_sprintf("jxperf/%s/", m->window->app), "originalUriBaseIds", SOURCES,
	    "description", "text", "the folder that the packages of the sources are in",
	    "invocations", invocation_json(m->window), "results",
	    JSON_ROWS(m, problems->list, problems->count, limit, result_json));
}

int report_sarif_write(FILE *out, const struct report_model *m, size_t rows)
{
	_cleanup_json_ json_t *document = json_pack("{s:s, s:s, s:[o]}", "$schema", SCHEMA,
						    "version", "2.1.0", "runs", run_json(m, rows));

	if (!document || json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) < 0 ||
	    fputc('\n', out) == EOF)
		return -ENOMEM;
	return 0;
}
