#include "report/content/scaffolding.h"

#include <stdbool.h>
#include <string.h>

#define CONCURRENT "java.util.concurrent"
#define THREADS    "thread entry"
#define REFLECTION "reflection"
#define LAMBDAS    "lambdas"

const struct scaffolding scaffolding_table[] = {
    {THREADS, "java.lang.Thread", "run"}, /* runWith, too */
    {THREADS, "java.lang.VirtualThread", NULL},
    {THREADS, "java.lang.ThreadBuilders", NULL},
    {THREADS, "jdk.internal.vm.Continuation", NULL},
    {THREADS, "jdk.internal.misc.InnocuousThread", "run"},
    {THREADS, "java.security.AccessController", NULL},
    {CONCURRENT, "java.util.concurrent.ForkJoin", NULL},
    {CONCURRENT, "java.util.concurrent.CountedCompleter", NULL},
    {CONCURRENT, "java.util.concurrent.Recursive", NULL},
    {CONCURRENT, "java.util.concurrent.ThreadPoolExecutor", NULL},
    {CONCURRENT, "java.util.concurrent.ScheduledThreadPoolExecutor", NULL},
    {CONCURRENT, "java.util.concurrent.ThreadPerTaskExecutor", NULL},
    {CONCURRENT, "java.util.concurrent.Executors$", NULL},
    {CONCURRENT, "java.util.concurrent.FutureTask", NULL},
    {CONCURRENT, "java.util.concurrent.CompletableFuture$", NULL},
    {REFLECTION, "java.lang.reflect.", NULL},
    {REFLECTION, "jdk.internal.reflect.", NULL},
    {REFLECTION, "sun.reflect.", NULL},
    {REFLECTION, "*$Proxy", NULL},
    {LAMBDAS, "java.lang.invoke.", NULL},
    {LAMBDAS, "*$$Lambda", NULL},
    {LAMBDAS, "*LambdaForm$", NULL},
    {"streams", "java.util.stream.AbstractPipeline", NULL},
    {"streams", "java.util.stream.ReduceOps$", NULL},
    {"streams", "java.util.stream.ForEachOps$", NULL},
};

_Static_assert(sizeof(scaffolding_table) / sizeof(scaffolding_table[0]) == SCAFFOLDING_ROWS,
	       "SCAFFOLDING_ROWS is wrong");

/* The beginning of a class's name is that of the class, of one nested in it, or of a package. */
static bool is_of_class(const char *class_name, const char *wanted)
{
	if (wanted[0] == '*')
		return strstr(class_name, wanted + 1) != NULL;
	return strncmp(class_name, wanted, strlen(wanted)) == 0;
}

const struct scaffolding *scaffolding_find(const char *class_name, const char *method)
{
	for (size_t i = 0; i < SCAFFOLDING_ROWS; i++) {
		const struct scaffolding *s = &scaffolding_table[i];

		if (is_of_class(class_name, s->class_name) &&
		    (!s->method || strncmp(method, s->method, strlen(s->method)) == 0))
			return s;
	}
	return NULL;
}
