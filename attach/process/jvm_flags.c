#include "attach/process/jvm_flags.h"

#include "common/cleanup.h"

#include <stdint.h>
#include <string.h>

#define OPTION_BYTES 4096 /* Longer options are skipped: none that matters here is. */

static const struct {
	const char *name;
	const char *gc;
} flag_table[JVM_FLAG_MAX] = {
    [JVM_FLAG_DISABLE_ATTACH] = {"DisableAttachMechanism", NULL},
    [JVM_FLAG_DYNAMIC_LOADING] = {"EnableDynamicAgentLoading", NULL},
    [JVM_FLAG_COMPILER] = {"UseCompiler", NULL},
    [JVM_FLAG_SERIAL] = {"UseSerialGC", "Serial"},
    [JVM_FLAG_PARALLEL] = {"UseParallelGC", "Parallel"},
    [JVM_FLAG_G1] = {"UseG1GC", "G1"},
    [JVM_FLAG_ZGC] = {"UseZGC", "ZGC"},
    [JVM_FLAG_SHENANDOAH] = {"UseShenandoahGC", "Shenandoah"},
    [JVM_FLAG_EPSILON] = {"UseEpsilonGC", "Epsilon"},
};

void jvm_flags_init(struct jvm_flags *f)
{
	memset(f, 0, sizeof(*f));
}

static enum jvm_flag_value value_of(const struct jvm_flags *f, enum jvm_flag flag)
{
	return f->from_options[flag] != JVM_FLAG_UNSET ? f->from_options[flag] : f->from_file[flag];
}

bool jvm_flags_attach_disabled(const struct jvm_flags *f)
{
	return value_of(f, JVM_FLAG_DISABLE_ATTACH) == JVM_FLAG_ON;
}

bool jvm_flags_dynamic_loading_disabled(const struct jvm_flags *f)
{
	return value_of(f, JVM_FLAG_DYNAMIC_LOADING) == JVM_FLAG_OFF;
}

bool jvm_flags_interpreted_only(const struct jvm_flags *f)
{
	return value_of(f, JVM_FLAG_COMPILER) == JVM_FLAG_OFF;
}

const char *jvm_flags_gc(const struct jvm_flags *f)
{
	for (int i = 0; i < JVM_FLAG_MAX; i++)
		if (flag_table[i].gc && value_of(f, i) == JVM_FLAG_ON)
			return flag_table[i].gc;
	return "";
}

/* "+Name" or "-Name". */
static void set_flag(enum jvm_flag_value *values, const char *flag)
{
	if (*flag != '+' && *flag != '-')
		return;
	for (int i = 0; i < JVM_FLAG_MAX; i++)
		if (strcmp(flag + 1, flag_table[i].name) == 0)
			values[i] = *flag == '+' ? JVM_FLAG_ON : JVM_FLAG_OFF;
}

/* The text after prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

/* The contents of a file named by an option, to be freed, or NULL. */
static char *read_file(const struct jvm_flags_reader *reader, const char *path)
{
	_cleanup_free_ char *text = NULL;

	if (!reader || !reader->read)
		return NULL;
	text = malloc(JVM_FLAGS_FILE_BYTES);
	if (!text || reader->read(reader->arg, path, text, JVM_FLAGS_FILE_BYTES) < 0)
		return NULL;
	return TAKE_PTR(text);
}

void jvm_flags_add(struct jvm_flags *f, const char *option, const struct jvm_flags_reader *reader)
{
	_cleanup_free_ char *text = NULL;
	const char *flag, *path;

	if (strcmp(option, "-Xint") == 0)
		f->from_options[JVM_FLAG_COMPILER] = JVM_FLAG_OFF;
	if (strcmp(option, "-Xmixed") == 0 || strcmp(option, "-Xcomp") == 0)
		f->from_options[JVM_FLAG_COMPILER] = JVM_FLAG_ON;
	flag = after(option, "-XX:");
	if (!flag)
		return;
	set_flag(f->from_options, flag);
	path = after(flag, "Flags=");
	if (path) {
		text = read_file(reader, path);
		if (text)
			jvm_flags_add_file(f, text);
	}
	path = after(flag, "VMOptionsFile=");
	if (path) {
		text = read_file(reader, path);
		if (text) /* Such a file cannot name another. */
			jvm_flags_add_text(f, text, NULL);
	}
}

/* How the places that hold options separate and quote them. */
struct syntax {
	bool comments; /* '#' to the end of the line */
	bool escapes;  /* backslash inside quotes */
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_space(const char *text, struct syntax syntax)
{
	for (;;) {
		while (is_space(*text))
			text++;
		if (!syntax.comments || *text != '#')
			return text;
		while (*text && *text != '\n' && *text != '\r')
			text++;
	}
}

/* Takes the next word of *text into word. False at the end. A word that is too long comes out
 * empty. */
static bool next_word(const char **text, struct syntax syntax, char *word, size_t size)
{
	const char *p = skip_space(*text, syntax);
	size_t used = 0;
	char quote = 0;

	if (!*p)
		return false;
	for (; *p && (quote || !is_space(*p)); p++) {
		if (*p == quote) {
			quote = 0;
			continue;
		}
		if (!quote && (*p == '"' || *p == '\'')) {
			quote = *p;
			continue;
		}
		if (quote && syntax.escapes && *p == '\\' && p[1])
			p++;
		if (used < size)
			word[used++] = *p;
	}
	word[used < size ? used : 0] = '\0';
	*text = p;
	return true;
}

void jvm_flags_add_text(struct jvm_flags *f, const char *text,
			const struct jvm_flags_reader *reader)
{
	char word[OPTION_BYTES];

	while (next_word(&text, (struct syntax){0}, word, sizeof(word)))
		jvm_flags_add(f, word, reader);
}

void jvm_flags_add_file(struct jvm_flags *f, const char *text)
{
	char word[OPTION_BYTES];

	while (next_word(&text, (struct syntax){.comments = true}, word, sizeof(word)))
		set_flag(f->from_file, word);
}

/* ---------------------------------------------------------------- the launcher's command line */

struct launcher {
	struct jvm_flags *flags;
	const struct jvm_flags_reader *reader;
	char *main;
	size_t main_size;
	bool skip_next; /* the previous option takes this word as its value */
	bool main_next; /* -jar or -m came */
	bool done;      /* the main class is known: the rest is the application's */
	bool no_files;  /* --disable-@files */
};

static const char *const options_with_value[] = {
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--limit-modules",
    "--patch-module",
    "--source",
    "--describe-module",
    "-d",
    "--upgrade-module-path",
    "--enable-native-access",
};

static bool takes_value(const char *option)
{
	for (size_t i = 0; i < sizeof(options_with_value) / sizeof(options_with_value[0]); i++)
		if (strcmp(option, options_with_value[i]) == 0)
			return true;
	return false;
}

static void set_main(struct launcher *l, const char *name)
{
	size_t n = strnlen(name, l->main_size - 1);

	memcpy(l->main, name, n);
	l->main[n] = '\0';
	l->done = true;
}

static void launcher_word(struct launcher *l, const char *word)
{
	const char *module = after(word, "--module=");

	if (l->skip_next) {
		l->skip_next = false;
	} else if (l->main_next) {
		set_main(l, word);
	} else if (module) {
		set_main(l, module);
	} else if (strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 ||
		   strcmp(word, "--module") == 0) {
		l->main_next = true;
	} else if (strcmp(word, "--disable-@files") == 0) {
		l->no_files = true;
	} else if (takes_value(word)) {
		l->skip_next = true;
	} else if (*word == '-') {
		/* Tools such as javac hand on what follows -J. */
		jvm_flags_add(l->flags, after(word, "-J") ? word + 2 : word, l->reader);
	} else if (*word) {
		set_main(l, word);
	}
}

/* A word that may name an argument file; such files do not nest. */
static void launcher_argument(struct launcher *l, const char *argument)
{
	_cleanup_free_ char *text = NULL;
	char word[OPTION_BYTES];
	const char *p;

	if (*argument != '@' || argument[1] == '@' || l->no_files) {
		launcher_word(l, argument);
		return;
	}
	text = read_file(l->reader, argument + 1);
	p = text;
	while (
	    p && !l->done &&
	    next_word(&p, (struct syntax){.comments = true, .escapes = true}, word, sizeof(word)))
		launcher_word(l, word);
}

void jvm_flags_add_cmdline(struct jvm_flags *f, const char *cmdline, size_t cmdline_bytes,
			   const char *launcher_options, const struct jvm_flags_reader *reader,
			   char *main, size_t size)
{
	struct launcher l = {.flags = f, .reader = reader, .main = main, .main_size = size};
	char word[OPTION_BYTES];
	size_t at;

	main[0] = '\0';
	while (!l.done && next_word(&launcher_options, (struct syntax){0}, word, sizeof(word)))
		launcher_argument(&l, word);
	at = strnlen(cmdline, cmdline_bytes) + 1; /* Behind the program's name. */
	while (at < cmdline_bytes && !l.done) {
		size_t n = strnlen(cmdline + at, cmdline_bytes - at);

		if (n < sizeof(word)) {
			memcpy(word, cmdline + at, n);
			word[n] = '\0';
			launcher_argument(&l, word);
		} else {
			l.skip_next = false; /* A class path, as a rule. */
		}
		at += n + 1;
	}
}
