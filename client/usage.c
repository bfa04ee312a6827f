#include "client/usage.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* What an option does begins in this column, and no line has more characters. */
#define HELP_COLUMN 17
#define HELP_WIDTH  98

/* The longest option with its value, and the longest text of one. */
#define LEFT_BYTES 64
#define TEXT_BYTES 512

static const char exit_statuses[] =
    "\n"
    "exit status: 0 done, 1 failed, 2 wrong usage; of attach and wait, with a report of what had\n"
    "arrived: 3 the window ended early (^C, detach, a stopped daemon), 4 its target ended; of "
    "diff\n"
    "with --fail-above: 5 a rise is shown\n";

/* ---------------------------------------------------------------- help */

/* Prints the text from the column on, broken between words. */
static void print_wrapped(size_t from, const char *text)
{
	size_t column = from;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > from && column + 1 + length > HELP_WIDTH) {
			(void)printf("\n%*s", (int)from, "");
			column = from;
		}
		if (column > from)
			column += (size_t)printf(" ");
		column += (size_t)printf("%.*s", (int)length, text);
		text += length + strspn(text + length, " ");
	}
	(void)puts("");
}

static void print_described(const char *left, const char *text)
{
	int n = printf("  %-*s", HELP_COLUMN - 2, left);

	if (n > HELP_COLUMN)
		(void)printf("\n%*s", HELP_COLUMN, "");
	print_wrapped(HELP_COLUMN, text);
}

/* "text, json or pprof: what FILE is (as it looks)" */
static void describe(const struct argument_option *o, char text[TEXT_BYTES])
{
	char names[TEXT_BYTES / 2];
	const char *help = o->help ? o->help : "", *unset = o->unset ? o->unset : "";
	int n;

	argument_names(o, names, sizeof(names));
	n = snprintf(text, TEXT_BYTES, "%s%s%s%s%s%s", names, names[0] && help[0] ? ": " : "", help,
		     unset[0] ? " (" : "", unset, unset[0] ? ")" : "");
	assert(n > 0 && n < TEXT_BYTES);
	(void)n;
}

static void print_option(const struct argument_option *o)
{
	char left[LEFT_BYTES], text[TEXT_BYTES], letter[] = "-?, ";
	int n;

	letter[1] = o->letter;
	n = snprintf(left, sizeof(left), "%s--%s%s%s", o->letter ? letter : "", o->name,
		     o->value ? " " : "", o->value ? o->value : "");
	assert(n > 0 && n < LEFT_BYTES);
	(void)n;
	describe(o, text);
	print_described(left, text);
}

static void print_options(const struct argument_option *table)
{
	for (; !argument_end(table); table++) {
		if (table->group)
			print_options(table->group);
		else
			print_option(table);
	}
}

void usage_print(const struct command *const *commands)
{
	(void)puts("usage: jxperfctl COMMAND [ARGUMENT...]\n");
	for (; *commands; commands++)
		print_described((*commands)->name, (*commands)->help);
	print_described("help COMMAND", "what a command takes");
	(void)puts("");
	print_options(command_globals);
	(void)fputs(exit_statuses, stdout);
}

void usage_print_command(const struct command *command)
{
	(void)printf("usage: jxperfctl %s %s\n\n", command->name, command->arguments);
	print_wrapped(0, command->help);
	if (command->options) {
		(void)puts("");
		print_options(command->options);
	}
	(void)puts("\nand of every command:");
	print_options(command_globals);
	(void)puts("\njxperfctl(1) has examples.");
}

/* ---------------------------------------------------------------- completion */

static void offer_options(const struct argument_option *table)
{
	for (const struct argument_option *o = table; o && !argument_end(o); o++) {
		if (o->group) {
			offer_options(o->group);
			continue;
		}
		(void)printf("--%s\n", o->name);
		if (o->letter)
			(void)printf("-%c\n", o->letter);
	}
}

/* The option that a word is; NULL when it is none of the table. */
static const struct argument_option *find(const struct argument_option *table, const char *word)
{
	size_t at = 0;

	return table ? argument_find(table, word, strlen(word), &at) : NULL;
}

static bool takes_value(const struct argument_option *option)
{
	return option && option->type != ARGUMENT_SWITCH;
}

/* Offers what can be behind an option. Of a list, "a,b", the last part is completed. */
static void offer_values(const struct argument_option *o, const char *word)
{
	const char *comma = strchr(o->value, ',') ? strrchr(word, ',') : NULL;
	int before = comma ? (int)(comma + 1 - word) : 0;
	const char *name;

	for (size_t i = 0; (name = argument_name(o, i)); i++)
		(void)printf("%.*s%s\n", before, word, name);
	if (strcmp(o->value, "FILE") == 0 || strcmp(o->value, "PATH") == 0)
		(void)puts("<files>");
	if (strcmp(o->value, "WINDOW") == 0)
		(void)puts("<windows>");
	if (strcmp(o->value, "APP") == 0)
		(void)puts("<apps>");
}

static void offer_operands(unsigned completes)
{
	if (completes & COMPLETES_JVMS)
		(void)puts("<jvms>");
	if (completes & COMPLETES_RUNNING)
		(void)puts("<running>");
	if (completes & COMPLETES_WINDOWS)
		(void)puts("<windows>");
	if (completes & COMPLETES_FILES)
		(void)puts("<files>");
}

/* The first of the words that is no global option, nor a value of one; count when there is none. */
static int find_operand(int count, char **words)
{
	int i = 0;

	while (i < count && words[i][0] == '-')
		i += takes_value(find(command_globals, words[i])) ? 2 : 1;
	return i < count ? i : count;
}

void usage_complete(const struct command *const *commands, int count, char **words)
{
	const char *word = count > 0 ? words[count - 1] : "";
	int before = count > 0 ? count - 1 : 0;
	int at = find_operand(before, words);
	const struct command *command = at < before ? command_find(commands, words[at]) : NULL;
	const struct argument_option *options = command ? command->options : NULL, *option = NULL;

	if (before > 0)
		option = find(options, words[before - 1]);
	if (before > 0 && !option)
		option = find(command_globals, words[before - 1]);
	if (takes_value(option)) {
		offer_values(option, word);
	} else if (word[0] == '-') {
		offer_options(options);
		offer_options(command_globals);
	} else if (command) {
		offer_operands(command->completes);
	} else if (at == before || strcmp(words[at], "help") == 0) {
		for (; *commands; commands++)
			(void)printf("%s\n", (*commands)->name);
		(void)puts("help");
	}
}
