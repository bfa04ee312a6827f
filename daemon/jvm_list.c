#include "daemon/jvm_list.h"

#include "attach/jvm.h"
#include "common/cleanup.h"

#include <string.h>

#define JVMS_MAX 4096 /* in one answer, which has to fit a frame */

struct collector {
	Jxp__JvmList *list;
	bool out_of_memory;
};

static void cleanup_list(Jxp__JvmList **list)
{
	jxp__jvm_list__free_unpacked(*list, NULL);
}

static Jxp__Jvm *describe(const struct jvm_info *info)
{
	Jxp__Jvm *jvm = malloc(sizeof(*jvm));

	if (!jvm)
		return NULL;
	jxp__jvm__init(jvm);
	jvm->pid = (uint32_t)info->pid;
	jvm->user = strdup(info->user);
	jvm->container = strdup(info->container);
	jvm->name = strdup(info->name);
	jvm->jdk = strdup(info->jdk);
	jvm->gc = strdup(info->gc);
	jvm->state = strdup(jvm_obstacle_name(info->obstacle));
	if (jvm->user && jvm->container && jvm->name && jvm->jdk && jvm->gc && jvm->state)
		return jvm;
	jxp__jvm__free_unpacked(jvm, NULL);
	return NULL;
}

static bool add(void *arg, const struct jvm_info *info)
{
	struct collector *c = arg;
	Jxp__Jvm *jvm = describe(info);

	if (!jvm) {
		c->out_of_memory = true;
		return false;
	}
	c->list->jvms[c->list->n_jvms++] = jvm;
	return c->list->n_jvms < JVMS_MAX;
}

int jvm_list_new(Jxp__JvmList **out, struct err *err)
{
	_cleanup_(cleanup_list) Jxp__JvmList *list = malloc(sizeof(*list));
	struct collector c = {.list = list};
	int r;

	if (!list)
		return err_set(err, ENOMEM, "out of memory");
	jxp__jvm_list__init(list);
	list->jvms = calloc(JVMS_MAX, sizeof(*list->jvms));
	if (!list->jvms)
		return err_set(err, ENOMEM, "out of memory");
	r = jvm_enumerate(add, &c, err);
	if (r < 0)
		return r;
	if (c.out_of_memory)
		return err_set(err, ENOMEM, "out of memory");
	*out = TAKE_PTR(list);
	return 0;
}
