#include "fleet/total.h"

#include <math.h>

void fleet_total_add(struct fleet_total *t, double value, double jvm_fraction)
{
	t->host_sum += value / jvm_fraction;
	t->host_variance += (1 - jvm_fraction) / (jvm_fraction * jvm_fraction) * value * value;
	t->host_jvms++;
}

void fleet_total_end_host(struct fleet_total *t, double host_fraction)
{
	double factor = (1 - host_fraction) / (host_fraction * host_fraction);

	if (t->host_jvms == 0)
		return;
	t->estimate += t->host_sum / host_fraction;
	t->variance += factor * t->host_sum * t->host_sum + t->host_variance / host_fraction;
	t->hosts++;
	t->jvms += t->host_jvms;
	t->host_sum = 0;
	t->host_variance = 0;
	t->host_jvms = 0;
}

double fleet_total_error95(const struct fleet_total *t)
{
	return 1.959964 * sqrt(t->variance);
}
