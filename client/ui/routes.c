#include "client/ui/routes.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#define PARAMETERS_MAX 6

/* Digits, letters and what else a value may have. No value begins with a dash. */
#define DIGITS  "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct parameter {
	const char *name;
	const char *option; /* "--duration", or NULL: an operand */
	const char *of;     /* the characters that it may have; NULL: any */
	bool needed;
};

struct command_route {
	struct route route;
	const char *before[4]; /* of the parameters */
	struct parameter parameters[PARAMETERS_MAX];
};

#define WINDOW(parameter)                                                      \
	{                                                                      \
		.name = (parameter), .of = DIGITS LETTERS "-_", .needed = true \
	}
#define PID                                                 \
	{                                                   \
		.name = "pid", .of = DIGITS, .needed = true \
	}

/* Times and durations, of which no name of a file can be made. */
#define PERIOD(parameter)                                                       \
	{                                                                       \
		.name = (parameter), .of = DIGITS "mshdwTZ:.-+", .needed = true \
	}

static const struct command_route routes[] = {
    {{"api/jvms", false, false}, {"--json", "list"}, {{0}}},
    {{"api/apps", false, false}, {"--json", "apps"}, {{0}}},
    {{"api/status", false, false}, {"--json", "status"}, {{0}}},
    {{"api/windows", false, false},
     {"--json", "windows"},
     {{.name = "app", .option = "--app"}, {.name = "limit", .option = "--limit", .of = DIGITS}}},
    {{"api/findings", false, false},
     {"--json", "report"},
     {WINDOW("window"), {.name = "pairs", .option = "--pairs", .of = DIGITS, .needed = true}}},
    {{"window", false, true}, {"report", "--format", "html"}, {WINDOW("window")}},
    {{"compare", false, true}, {"diff", "--format", "html"}, {WINDOW("a"), WINDOW("b")}},
    {{"periods", false, true},
     {"diff", "--format", "html"},
     {PERIOD("a"), PERIOD("b"), {.name = "app", .option = "--app", .needed = true}}},
    {{"api/attach", true, false},
     {"--json", "attach", "--background"},
     {PID,
      {.name = "duration", .option = "--duration", .of = DIGITS LETTERS, .needed = true},
      {.name = "budget", .option = "--budget", .of = DIGITS ".%", .needed = true},
      {.name = "kinds", .option = "--kinds", .of = LETTERS ",-"}}},
    {{"api/detach", true, false}, {"detach"}, {PID}},
};

const struct route *route_find(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strcmp(routes[i].route.path, path) == 0)
			return &routes[i].route;
	return NULL;
}

static bool has_form(const struct parameter *p, const char *value)
{
	size_t length = strlen(value);

	return length > 0 && length <= ROUTE_VALUE_MAX && value[0] != '-' &&
	       (!p->of || strspn(value, p->of) == length);
}

const char *route_arguments(const struct route *route, const char *socket, route_value_fn *value,
			    void *request, char *argv[ROUTE_ARGUMENTS_MAX])
{
	const struct command_route *r =
	    (const void *)((const uint8_t *)route - offsetof(struct command_route, route));
	size_t count = 0;

	argv[count++] = (char *)"jxperfctl";
	argv[count++] = (char *)"--socket";
	argv[count++] = (char *)socket;
	for (size_t i = 0; i < sizeof(r->before) / sizeof(r->before[0]) && r->before[i]; i++)
		argv[count++] = (char *)r->before[i];
	for (size_t i = 0; i < PARAMETERS_MAX && r->parameters[i].name; i++) {
		const struct parameter *p = &r->parameters[i];
		const char *given = value(request, p->name);

		if (!given && !p->needed)
			continue;
		if (!given || !has_form(p, given))
			return p->name;
		if (p->option)
			argv[count++] = (char *)p->option;
		argv[count++] = (char *)given;
	}
	assert(count < ROUTE_ARGUMENTS_MAX);
	argv[count] = NULL;
	return NULL;
}
