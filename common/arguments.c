#include "common/arguments.h"

#include <errno.h>
#include <string.h>

static const struct argument_option none[] = {{0}};

static const struct argument_option *find_long(const struct argument_option *options,
					       const char *text, size_t length)
{
	for (; options->name; options++)
		if (strlen(options->name) == length && strncmp(options->name, text, length) == 0)
			return options;
	return NULL;
}

static const struct argument_option *find_short(const struct argument_option *options,
						const char *text)
{
	for (; options->name; options++)
		if (options->letter && text[0] == options->letter && text[1] == '\0')
			return options;
	return NULL;
}

/* Applies the option in argv[*i], which takes the next argument too when its value is there. */
static int parse_option(const struct argument_option *options, int argc, char **argv, int *i,
			void *settings, struct err *err)
{
	const char *argument = argv[*i];
	bool is_long = argument[1] == '-';
	const char *equals = is_long ? strchr(argument, '=') : NULL;
	size_t length = equals ? (size_t)(equals - argument) : strlen(argument);
	const struct argument_option *option = is_long
						   ? find_long(options, argument + 2, length - 2)
						   : find_short(options, argument + 1);
	const char *value = equals ? equals + 1 : NULL;
	struct err reason;

	if (!option)
		return err_set(err, EINVAL, "unknown option '%.*s': see 'jxperfctl --help'",
			       (int)length, argument);
	if (!option->takes_value && value)
		return err_set(err, EINVAL, "option '%.*s' takes no value", (int)length, argument);
	if (option->takes_value && !value) {
		if (*i + 1 >= argc)
			return err_set(err, EINVAL, "option '%s' needs a value", argument);
		value = argv[++*i];
	}
	if (option->apply(settings, value, &reason) < 0)
		return err_set(err, EINVAL, "%.*s: %s", (int)length, argument, reason.message);
	return 0;
}

static int check_operand(const struct argument_spec *spec, const char *name, const char *operand,
			 struct err *err)
{
	bool required = spec->operands[0] != '\0' && spec->operands[0] != '[';

	if (operand || !required)
		return 0;
	return err_set(err, EINVAL, "'%s' needs %s: see 'jxperfctl --help'", name, spec->operands);
}

int arguments_parse(const struct argument_spec *spec, int argc, char **argv, void *settings,
		    const char **operand, int *index, struct err *err)
{
	const struct argument_option *options = spec->options ? spec->options : none;
	const char *found = NULL;
	int at = argc, i, r;
	bool only_operands = false;

	for (i = 1; i < argc; i++) {
		if (!only_operands && strcmp(argv[i], "--") == 0) {
			only_operands = true;
			continue;
		}
		if (!only_operands && argv[i][0] == '-' && argv[i][1] != '\0') {
			r = parse_option(options, argc, argv, &i, settings, err);
			if (r < 0)
				return r;
			continue;
		}
		if (found || spec->operands[0] == '\0')
			return err_set(err, EINVAL, "unexpected argument '%s'", argv[i]);
		found = argv[i];
		at = i;
		if (spec->stop_at_operand)
			break;
	}
	r = check_operand(spec, argv[0], found, err);
	if (r < 0)
		return r;
	*operand = found;
	if (index)
		*index = at;
	return 0;
}
