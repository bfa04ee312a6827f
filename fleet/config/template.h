/*
 * Makes what a rule calls an application: text with placeholders, such as
 * "{label:app}-{env:REGION}".
 *
 *   {main-class}   the main class with its package, or the jar
 *   {unit}         the systemd unit, without ".service"
 *   {image}        the image of the container, without registry and tag
 *   {label:NAME}   a label of the Kubernetes pod
 *   {env:NAME}     a variable of the environment
 *
 * Only the syntax is here; fleet/naming.h has the values.
 */
#ifndef JXPERF_FLEET_CONFIG_TEMPLATE_H
#define JXPERF_FLEET_CONFIG_TEMPLATE_H

#include <stddef.h>

#include "common/err.h"

enum template_kind {
	TEMPLATE_END,
	TEMPLATE_TEXT,
	TEMPLATE_MAIN_CLASS,
	TEMPLATE_UNIT,
	TEMPLATE_IMAGE,
	TEMPLATE_LABEL,
	TEMPLATE_ENV,
};

struct template_part {
	enum template_kind kind;
	const char *text; /* of TEXT; the NAME of LABEL and ENV. Points into the template */
	size_t length;
};

/* The part that *at begins with; *at is what comes after it. 0, or -EINVAL with what is wrong. */
int template_next(const char **at, struct template_part *part, struct err *err);

#endif
