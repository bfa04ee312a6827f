/*
 * Options that the commands about a fleet have: which server, and which windows.
 */
#ifndef JXPERF_CLIENT_COMMAND_FLEET_OPTIONS_H
#define JXPERF_CLIENT_COMMAND_FLEET_OPTIONS_H

#include "client/fleet/server.h"
#include "common/arguments.h"
#include "fleet/report/question.h"

/* Fields of a struct server_options, and of a struct fleet_question. */
extern const struct argument_option server_arguments[], question_arguments[];

#endif
