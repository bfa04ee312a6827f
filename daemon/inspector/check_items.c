#include "daemon/inspector/check_items.h"

#include "common/err.h"
#include "common/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_items_init(struct check_items *c)
{
	c->out_of_memory = true;
	c->result = malloc(sizeof(*c->result));
	if (!c->result)
		return;
	jxp__check_result__init(c->result);
	c->result->items = calloc(CHECK_ITEMS_MAX, sizeof(*c->result->items));
	c->out_of_memory = !c->result->items;
}

Jxp__CheckResult *check_items_take(struct check_items *c)
{
	Jxp__CheckResult *result = c->result;

	c->result = NULL;
	if (!c->out_of_memory)
		return result;
	jxp__check_result__free_unpacked(result, NULL);
	return NULL;
}

void check_items_add(struct check_items *c, const char *name, Jxp__CheckItem__Result result,
		     const char *fmt, ...)
{
	char text[ERR_MESSAGE_MAX], detail[ERR_MESSAGE_MAX];
	Jxp__CheckItem *item;
	va_list ap;

	if (c->out_of_memory)
		return;
	assert(c->result->n_items < CHECK_ITEMS_MAX);
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)utf8_sanitize(detail, sizeof(detail), text);
	item = malloc(sizeof(*item));
	if (!item) {
		c->out_of_memory = true;
		return;
	}
	jxp__check_item__init(item);
	item->name = strdup(name);
	item->result = result;
	item->detail = strdup(detail);
	c->result->items[c->result->n_items++] = item;
	c->out_of_memory = !item->name || !item->detail;
}
