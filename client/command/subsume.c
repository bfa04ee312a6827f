/* jxperfctl subsume: subsuming methods of a profile that some program wrote to a file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/command/command.h"
#include "client/command/parse.h"
#include "client/output/output.h"
#include "common/arguments.h"
#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/json.h"
#include "common/utf8.h"
#include "subsume/analysis.h"
#include "subsume/import/import.h"
#include "subsume/output.h"
#include "subsume/summary.h"

/* Heights beyond the deepest stack are of nothing. */
#define HEIGHT_MAX ((int)SUBSUME_DEPTH_MAX)

/* The longest line that says what was left out. */
#define TOLD_BYTES 4096u

enum result_format {
	RESULT_TEXT,
	RESULT_JSON,
	RESULT_COLLAPSED,
	RESULT_HTML,
};

struct subsume_options {
	enum import_format format;
	const char *sample_type;
	int height, distance;
	uint32_t top;
	unsigned column;
	enum result_format result;
	const char *output;
};

static const char *const formats[] = {"collapsed", "pprof", "jfr", NULL};
static const char *const columns[] = {"1", "2", "last", NULL};
static const char *const results[] = {"text", "json", "collapsed", "html", NULL};

static const Jxp__Format shown_as[] = {
    [RESULT_TEXT] = JXP__FORMAT__FORMAT_TEXT,
    [RESULT_JSON] = JXP__FORMAT__FORMAT_JSON,
    [RESULT_COLLAPSED] = JXP__FORMAT__FORMAT_COLLAPSED,
    [RESULT_HTML] = JXP__FORMAT__FORMAT_HTML,
};

#define FIELD(member) .field = offsetof(struct subsume_options, member)

static const struct argument_option arguments[] = {
    {.group = output_arguments, FIELD(output)},
    {.name = "format",
     .type = ARGUMENT_CHOICE,
     FIELD(format),
     .names = formats,
     .least = IMPORT_COLLAPSED,
     .noun = "a format of profiles",
     .value = "F",
     .help = "what FILE is",
     .unset = "as it looks"},
    {.name = "sample-type",
     .type = ARGUMENT_TEXT,
     FIELD(sample_type),
     .noun = "a type of samples",
     .value = "T",
     .help = "what is counted; "
	     "pprof: one of its sample types (the one it says); "
	     "jfr: a type of event (jdk.ExecutionSample, or the obvious one); "
	     "collapsed: what its numbers are (samples)"},
    {.name = "column",
     .type = ARGUMENT_CHOICE,
     FIELD(column),
     .names = columns,
     .least = IMPORT_COLUMN_FIRST,
     .noun = "a column of counts",
     .value = "C",
     .help = "the count, of collapsed stacks with two numbers"},
    {.name = "height",
     .type = ARGUMENT_NUMBER,
     FIELD(height),
     .least = 0,
     .most = HEIGHT_MAX,
     .value = "N",
     .help = "methods that subsume are higher",
     .unset = "4"},
    {.name = "distance",
     .type = ARGUMENT_NUMBER,
     FIELD(distance),
     .least = 0,
     .most = (int)SUBSUME_DISTANCE_MAX,
     .value = "N",
     .help = "and further from each other method",
     .unset = "4"},
    {.name = "top",
     .type = ARGUMENT_PARSED,
     .parse = parse_count,
     FIELD(top),
     .value = "N",
     .help = "show at most N rows of each list",
     .unset = "20"},
    {.name = "output-format",
     .type = ARGUMENT_CHOICE,
     FIELD(result),
     .names = results,
     .least = RESULT_TEXT,
     .noun = "a format",
     .value = "F",
     .help = "collapsed is the tree of methods that subsume",
     .unset = "text"},
    {0},
};

static struct subsume_options asked = {.height = SUBSUME_HEIGHT_DEFAULT,
				       .distance = SUBSUME_DISTANCE_DEFAULT,
				       .top = SUBSUME_TOP_DEFAULT};

/* ---------------------------------------------------------------- the file */

/* Its bytes: mapped, or, of a pipe, read. */
struct profile_bytes {
	void *mapped;
	size_t size;
	struct buffer read;
};

static void release_bytes(struct profile_bytes *b)
{
	if (b->mapped)
		(void)munmap(b->mapped, b->size);
	buffer_release(&b->read);
}

/* A mapped file that somebody cuts has no bytes any more where it had some. */
static void on_cut(int number)
{
	static const char message[] = "jxperfctl: the profile became shorter while it was read\n";

	(void)number;
	(void)!write(STDERR_FILENO, message, sizeof(message) - 1);
	_exit(EXIT_FAILURE);
}

static int map_file(int fd, size_t size, struct profile_bytes *b, struct err *err)
{
	struct sigaction action = {.sa_handler = on_cut};
	void *mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (mapped == MAP_FAILED)
		return err_set_errno(err, errno, "it cannot be mapped");
	(void)sigaction(SIGBUS, &action, NULL); /* Cannot fail: the signal is one of ours. */
	(void)madvise(mapped, size, MADV_SEQUENTIAL);
	b->mapped = mapped;
	b->size = size;
	return 0;
}

static int read_pipe(int fd, struct profile_bytes *b, struct err *err)
{
	int r = buffer_read_all(&b->read, fd);

	if (r == -ENOMEM)
		return err_set(err, ENOMEM, "no memory for it");
	if (r == -ENOBUFS)
		return err_set(err, EFBIG, "more than %llu bytes are not read",
			       (unsigned long long)IMPORT_BYTES_MAX);
	return r < 0 ? err_set_errno(err, -r, "it cannot be read") : 0;
}

static int read_file(const char *path, struct profile_bytes *b, struct err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
				    : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set_errno(err, errno, "it cannot be opened");
	if (fstat(fd, &st) < 0)
		return err_set_errno(err, errno, "it cannot be looked at");
	if (S_ISREG(st.st_mode) && st.st_size > 0)
		return map_file(fd, (size_t)st.st_size, b, err);
	return read_pipe(fd, b, err);
}

static int load(const struct subsume_options *o, const char *path, struct subsume_tree *tree,
		struct import_notes *notes, struct err *err)
{
	_cleanup_(release_bytes) struct profile_bytes bytes = {.mapped = NULL};
	struct import_options options = {
	    .format = o->format, .sample_type = o->sample_type, .column = o->column};
	const uint8_t *at;
	size_t size;
	int r;

	buffer_init(&bytes.read, IMPORT_BYTES_MAX);
	r = read_file(path, &bytes, err);
	if (r < 0)
		return r;
	size = bytes.mapped ? bytes.size : buffer_length(&bytes.read);
	at = bytes.mapped;
	if (!at && size > 0)
		at = buffer_head(&bytes.read);
	return import_profile(at, size, &options, tree, notes, err);
}

/* ---------------------------------------------------------------- the result */

/* NULL without memory. */
static json_t *left_out_json(const struct import_notes *notes)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < notes->count && array; i++) {
		const struct import_left_out *l = &notes->left_out[i];
		json_t *one = JSON_OBJECT(
		    {"part", json_string(l->reason->part)}, {"what", json_string(l->reason->one)},
		    {"count", json_integer((json_int_t)l->count)},
		    {"first", json_integer((json_int_t)l->first)},
		    {"cost", json_integer((json_int_t)l->cost)}, {"why", json_string(l->why)});

		if (json_array_append_new(array, one) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

/* page: with the tree of the profile, and no more room than that takes. */
static int write_json(FILE *out, const struct subsume_summary *summary,
		      const struct import_notes *notes, bool page)
{
	json_t *found = subsume_json(summary);
	json_t *all = json_pack("{s:i, s:o}", "schema", 1, "subsuming", found);
	int r = all ? json_object_set_new(found, "left_out", left_out_json(notes)) : -1;

	if (r == 0)
		r = json_object_set_new(found, "remark", json_string(notes->remark));
	if (r == 0 && page)
		r = json_object_set_new(all, "tree", subsume_tree_json(summary->tree));
	if (r == 0)
		r = json_dumpf(all, out, page ? JSON_COMPACT : JSON_INDENT(2));

	json_decref(all);
	return r < 0 || fputc('\n', out) == EOF ? -ENOMEM : 0;
}

/* The result as a text in memory, which is the caller's to free. */
static int render(const struct subsume_options *o, const struct subsume_summary *summary,
		  const struct import_notes *notes, char **text, size_t *size)
{
	FILE *out = open_memstream(text, size);
	int r = 0;

	if (!out)
		return -ENOMEM;
	if (o->result == RESULT_JSON || o->result == RESULT_HTML)
		r = write_json(out, summary, notes, o->result == RESULT_HTML);
	else if (o->result == RESULT_COLLAPSED)
		r = subsume_write_collapsed(out, summary);
	else
		subsume_write_text(out, summary);
	if (fclose(out) != 0 && r == 0)
		r = -ENOMEM;
	return r;
}

static int analyse(const struct subsume_options *o, const struct subsume_tree *tree,
		   const struct import_notes *notes, char **text, size_t *size)
{
	_cleanup_(subsume_analysis_release) struct subsume_analysis analysis = {0};
	_cleanup_(subsume_summary_release) struct subsume_summary summary = {0};
	struct subsume_bounds bounds = {.height = (unsigned)o->height,
					.distance = (unsigned)o->distance};
	int r = subsume_analyse(tree, &bounds, &analysis);

	if (r == 0)
		r = subsume_summarise(tree, &analysis, o->top, &summary);
	return r < 0 ? r : render(o, &summary, notes, text, size);
}

/* Says what the report is not about, before it. */
static void tell(const char *path, const struct import_notes *notes,
		 const struct subsume_tree *tree)
{
	char line[TOLD_BYTES], name[PATH_MAX];

	import_notes_line(notes, tree, line, sizeof(line));
	(void)utf8_sanitize(name, sizeof(name), path); /* May be cut. */
	if (line[0])
		(void)fprintf(stderr, "jxperfctl: '%s': %s\n", name, line); /* Nowhere to tell. */
}

static int subsume(struct client *c, struct command_call *call, struct err *err)
{
	struct subsume_options *o = &asked;
	const char *path = call->operands[0];
	_cleanup_(subsume_tree_release) struct subsume_tree tree = {0};
	_cleanup_(output_release) struct output output = OUTPUT_NONE;
	_cleanup_free_ char *text = NULL;
	struct import_notes notes = {.count = 0};
	struct err why;
	size_t size = 0;
	int r;

	client_release(c); /* No daemon is asked, and a large profile may be interrupted. */
	if (c->json && o->result == RESULT_TEXT)
		o->result = RESULT_JSON;
	r = output_open_report(&output, o->output, shown_as[o->result], err);
	if (r < 0)
		return r;
	r = load(o, path, &tree, &notes, &why);
	if (r < 0)
		return err_set(err, -r, "cannot take '%s': %s", path, why.message);
	tell(path, &notes, &tree);
	r = analyse(o, &tree, &notes, &text, &size);
	if (r < 0)
		return err_set_errno(err, -r, "cannot analyse '%s'", path);
	return output_commit(&output, text, size, err);
}

const struct command cmd_subsume = {"subsume",
				    "FILE [option...]",
				    "subsuming methods of a profile in a file; no daemon needed",
				    "FILE",
				    .completes = COMPLETES_FILES,
				    .run = subsume,
				    .options = arguments,
				    .settings = &asked};
