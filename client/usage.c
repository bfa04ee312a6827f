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
static void print_wrapped(const char *text)
{
	size_t column = HELP_COLUMN;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
			(void)printf("\n%*s", HELP_COLUMN, "");
			column = HELP_COLUMN;
		}
		if (column > HELP_COLUMN)
			column += (size_t)printf(" ");
		column += (size_t)printf("%.*s", (int)length, text);
		text += length + strspn(text + length, " ");
	}
	(void)puts("");
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
	n = snprintf(left, sizeof(left), "  %s--%s%s%s", o->letter ? letter : "", o->name,
		     o->value ? " " : "", o->value ? o->value : "");
	assert(n > 0 && n < LEFT_BYTES);
	(void)printf("%-*s", HELP_COLUMN, left);
	if (n >= HELP_COLUMN)
		(void)printf("\n%*s", HELP_COLUMN, "");
	describe(o, text);
	print_wrapped(text);
}

static bool has_own(const struct argument_option *table)
{
	for (; !argument_end(table); table++)
		if (!table->group)
			return true;
	return false;
}

static bool has_table(const struct command *command, const struct argument_option *table)
{
	if (command->options == table)
		return true;
	for (const struct argument_option *o = command->options; o && !argument_end(o); o++)
		if (o->group == table)
			return true;
	return false;
}

/* "attach, report and diff:", those that have the options of the table. */
static void print_heading(const struct command *const *commands,
			  const struct argument_option *table)
{
	size_t users = 0, said = 0;

	for (size_t i = 0; commands[i]; i++)
		users += has_table(commands[i], table);
	for (size_t i = 0; commands[i]; i++) {
		if (!has_table(commands[i], table))
			continue;
		if (said > 0)
			(void)printf("%s", said + 1 < users ? ", " : " and ");
		(void)printf("%s", commands[i]->name);
		said++;
	}
	(void)puts(":");
}

/* Once, with the first of the commands that have it. */
static void print_table(const struct command *const *commands, size_t at,
			const struct argument_option *table)
{
	for (size_t i = 0; i < at; i++)
		if (has_table(commands[i], table))
			return;
	if (!has_own(table))
		return;
	print_heading(commands, table);
	for (const struct argument_option *o = table; !argument_end(o); o++)
		if (!o->group)
			print_option(o);
}

void usage_print(const struct command *const *commands, const struct argument_option *global)
{
	(void)puts("usage: jxperfctl [--socket PATH] [--json] COMMAND [ARGUMENT...]\n");
	for (size_t i = 0; commands[i]; i++)
		(void)printf("  %-10s %-21s %s\n", commands[i]->name, commands[i]->arguments,
			     commands[i]->help);
	(void)puts("");
	for (; !argument_end(global); global++)
		print_option(global);
	(void)puts("");
	for (size_t i = 0; commands[i]; i++) {
		const struct argument_option *own = commands[i]->options;

		for (const struct argument_option *o = own; o && !argument_end(o); o++)
			if (o->group)
				print_table(commands, i, o->group);
		if (own)
			print_table(commands, i, own);
	}
	(void)fputs(exit_statuses, stdout);
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
static int find_operand(const struct argument_option *global, int count, char **words)
{
	int i = 0;

	while (i < count && words[i][0] == '-')
		i += takes_value(find(global, words[i])) ? 2 : 1;
	return i < count ? i : count;
}

void usage_complete(const struct command *const *commands, const struct argument_option *global,
		    int count, char **words)
{
	const char *word = count > 0 ? words[count - 1] : "";
	int before = count > 0 ? count - 1 : 0;
	int at = find_operand(global, before, words);
	const struct command *command = at < before ? command_find(commands, words[at]) : NULL;
	const struct argument_option *options = at < before ? NULL : global, *option;

	if (command)
		options = command->options;
	option = before > 0 ? find(options, words[before - 1]) : NULL;
	if (takes_value(option)) {
		offer_values(option, word);
	} else if (word[0] == '-') {
		offer_options(options);
	} else if (command) {
		offer_operands(command->completes);
	} else if (at == before) {
		for (; *commands; commands++)
			(void)printf("%s\n", (*commands)->name);
		(void)puts("help");
	}
}
