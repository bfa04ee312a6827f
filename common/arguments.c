#include "common/arguments.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"

static const struct argument_option none[] = {{0}};

/* ---------------------------------------------------------------- values */

static int set_number(int *field, const struct argument_option *option, const char *text,
		      struct err *err)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < option->least || value > option->most)
		return err_set(err, EINVAL, "'%s' is not a number from %d to %d", text,
			       option->least, option->most);
	*field = (int)value;
	return 0;
}

static int set_copy(char *field, const struct argument_option *option, const char *text,
		    struct err *err)
{
	if (strlen(text) >= option->size)
		return err_set(err, EINVAL, "the value is longer than %zu bytes", option->size - 1);
	strcpy(field, text);
	return 0;
}

const char *argument_name(const struct argument_option *option, size_t i)
{
	if (option->name_at)
		return option->name_at(i);
	return option->names ? option->names[i] : NULL;
}

const char *argument_names(const struct argument_option *option, char *text, size_t size)
{
	const char *name = argument_name(option, 0), *next, *before = "";
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 1; name && used < size; i++, name = next) {
		int n = snprintf(text + used, size - used, "%s%s", before, name);

		used += n > 0 ? (size_t)n : 0;
		next = argument_name(option, i);
		before = next && argument_name(option, i + 1) ? ", " : " or ";
	}
	return text;
}

static int set_choice(void *field, const struct argument_option *option, const char *text,
		      struct err *err)
{
	char names[ERR_MESSAGE_MAX / 2];

	const char *name;

	for (int i = 0; (name = argument_name(option, (size_t)i)); i++)
		if (strcmp(name, text) == 0) {
			int value = option->least + i;

			/* Also where the compiler's type for an enum is not int. */
			memcpy(field, &value, sizeof(value));
			return 0;
		}
	return err_set(err, EINVAL, "'%s' is not %s: use %s", text, option->noun,
		       argument_names(option, names, sizeof(names)));
}

int arguments_set(const struct argument_option *option, void *settings, const char *value,
		  struct err *err)
{
	void *field = (char *)settings + option->field;

	if ((option->type == ARGUMENT_TEXT || option->type == ARGUMENT_COPY) && option->noun &&
	    value[0] == '\0')
		return err_set(err, EINVAL, "'' is not %s", option->noun);
	switch (option->type) {
	case ARGUMENT_SWITCH: /* Its value is that it is there. */
		*(bool *)field = true;
		return 0;
	case ARGUMENT_TEXT:
		*(const char **)field = value;
		return 0;
	case ARGUMENT_COPY:
		return set_copy(field, option, value, err);
	case ARGUMENT_NUMBER:
		return set_number(field, option, value, err);
	case ARGUMENT_CHOICE:
		return set_choice(field, option, value, err);
	case ARGUMENT_DURATION:
		return units_duration(value, field, err);
	case ARGUMENT_FRACTION:
		return units_fraction(value, field, err);
	default: /* ARGUMENT_PARSED */
		return option->parse(value, field, err);
	}
}

/* ---------------------------------------------------------------- the line */

/* Is it what the length bytes at text, with their dashes, name? */
static bool is_named(const struct argument_option *option, const char *text, size_t length)
{
	if (length < 2 || text[0] != '-')
		return false;
	if (text[1] != '-')
		return option->letter && length == 2 && text[1] == option->letter;
	return strlen(option->name) == length - 2 &&
	       strncmp(option->name, text + 2, length - 2) == 0;
}

const struct argument_option *argument_find(const struct argument_option *options, const char *text,
					    size_t length, size_t *at)
{
	for (; !argument_end(options); options++) {
		const struct argument_option *found = NULL;

		if (!options->group && is_named(options, text, length))
			return options;
		if (options->group)
			found = argument_find(options->group, text, length, at);
		if (found) {
			*at += options->field;
			return found;
		}
	}
	return NULL;
}

/* Sets the option in argv[*i], which takes the next argument too when its value is there. */
static int parse_option(const struct argument_spec *spec, int argc, char **argv, int *i,
			char *settings, struct err *err)
{
	const struct argument_option *option;
	const char *argument = argv[*i];
	const char *equals = argument[1] == '-' ? strchr(argument, '=') : NULL;
	size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
	const char *value = equals ? equals + 1 : NULL;
	size_t at = 0; /* of the settings: those of the option's group */
	struct err reason;

	option = argument_find(spec->options ? spec->options : none, argument, length, &at);
	if (!option && spec->common) {
		option = argument_find(spec->common, argument, length, &at);
		settings = spec->common_settings;
	}
	if (!option)
		return err_set(err, EINVAL, "unknown option '%.*s': see '%s --help'", (int)length,
			       argument, spec->program);
	if (option->type == ARGUMENT_SWITCH && value)
		return err_set(err, EINVAL, "option '%.*s' takes no value", (int)length, argument);
	if (option->type != ARGUMENT_SWITCH && !value) {
		if (*i + 1 >= argc)
			return err_set(err, EINVAL, "option '%s' needs a value", argument);
		value = argv[++*i];
	}
	if (arguments_set(option, settings + at, value, &reason) < 0)
		return err_set(err, EINVAL, "%.*s: %s", (int)length, argument, reason.message);
	return 0;
}

/* How many there may be. */
static unsigned operands_most(const struct argument_spec *spec)
{
	return spec->operand_count ? spec->operand_count : spec->operands[0] != '\0';
}

static int check_operands(const struct argument_spec *spec, const char *name, unsigned found,
			  struct err *err)
{
	if (spec->operands[0] == '[' || found == operands_most(spec))
		return 0;
	return err_set(err, EINVAL, "'%s' needs %s: see '%s --help'", name, spec->operands,
		       spec->program);
}

int arguments_parse(const struct argument_spec *spec, int argc, char **argv, void *settings,
		    const char **operand, int *index, struct err *err)
{
	const char *found[ARGUMENT_OPERANDS_MAX] = {NULL};
	unsigned count = 0;
	int at = argc, i, r;
	bool only_operands = false;

	assert(spec->operand_count <= ARGUMENT_OPERANDS_MAX);
	for (i = 1; i < argc; i++) {
		if (!only_operands && strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		if (!only_operands && argv[i][0] == '-' && argv[i][1] != '\0') {
			r = parse_option(spec, argc, argv, &i, settings, err);
			if (r < 0)
				return r;
			continue;
		}
		if (count == operands_most(spec))
			return err_set(err, EINVAL, "unexpected argument '%s': see '%s --help'",
				       argv[i], spec->program);
		found[count++] = argv[i];
		at = i;
		if (spec->stop_at_operand)
			break;
	}
	r = check_operands(spec, argv[0], count, err);
	if (r < 0)
		return r;
	if (operand) {
		operand[0] = found[0];
		for (unsigned o = 1; o < spec->operand_count; o++)
			operand[o] = found[o];
	}
	if (index)
		*index = at;
	return 0;
}
