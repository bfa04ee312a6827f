#include "attach/process/jvm_step.h"

#include <stdarg.h>
#include <stdio.h>

void jvm_step(char *step, const char *fmt, ...)
{
	va_list ap;

	if (!step)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(step, JVM_STEP_BYTES, fmt, ap); /* May be cut. */
	va_end(ap);
}
