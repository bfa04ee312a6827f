#include "profile/window/loss.h"

const struct loss_words loss_words[LOSS_MAX] = {
    [LOSS_METHODS] = {.name = "methods",
		      .sentence = "methods were beyond the daemon's limit and have no name"},
    [LOSS_LINES] = {.name = "lines", .sentence = "line tables were beyond the daemon's limit"},
    [LOSS_NODES] = {.name = "nodes", .sentence = "frames were beyond the daemon's limit"},
    [LOSS_INSTRUCTIONS] = {.name = "instructions",
			   .sentence = "instructions were beyond the daemon's limit"},
    [LOSS_LOCATIONS] = {.name = "locations",
			.sentence = "names of accessed memory were beyond the daemon's limit"},
    [LOSS_STRINGS] = {.name = "strings",
		      .sentence = "names were beyond the daemon's limit and are shown empty"},
    [LOSS_THREADS] = {.name = "threads",
		      .sentence =
			  "events of threads beyond the daemon's limit are missing from 'threads'"},
    [LOSS_PAIRS] = {.name = "pairs",
		    .sentence =
			"pairs were beyond the daemon's limit: in the fractions, but not listed"},
    [LOSS_UNKNOWN_IDS] = {.name = "unknown_ids",
			  .sentence = "references were to something that the agent never sent"},
    [LOSS_REPEATED_IDS] = {.name = "repeated_ids",
			   .sentence = "definitions repeated an earlier one and were ignored"},
    [LOSS_INVALID] = {.name = "invalid",
		      .sentence = "events had a field out of range and were dropped",
		      .lost = true},
    [LOSS_CLASSES] = {.name = "classes",
		      .sentence =
			  "classes of objects were beyond the daemon's limit and have no name"},
    [LOSS_OBJECTS] = {.name = "objects",
		      .sentence =
			  "objects were beyond the daemon's limit: counted, but not tracked"},
    [LOSS_SITES] = {.name = "sites",
		    .sentence = "objects were of allocation sites beyond the daemon's limit"},
    [LOSS_SITE_ACCESSES] = {.name = "site_accesses",
			    .sentence =
				"accesses to objects were from more contexts than are listed"},
    [LOSS_OBJECT_ORDER] = {.name = "object_order",
			   .sentence =
			       "accesses were lost because too many events waited for their turn",
			   true},
    [LOSS_POSITIONS] = {.name = "positions",
			.sentence = "positions of objects were contradictory, late or too many"},
    [LOSS_UNKNOWN_OBJECTS] = {.name = "unknown_objects",
			      .sentence =
				  "positions or deaths were of objects that are not tracked"},
    [LOSS_OVERLAPS] = {.name = "overlaps",
		       .sentence = "objects were given up where a newer one was said to be"},
    [LOSS_UNKNOWN_THREADS] =
	{.name = "unknown_threads",
	 .sentence = "requests for events were refused after many for threads that did not exist"},
    [LOSS_FIRST_TOUCHES] =
	{.name = "first_touches",
	 .sentence = "first touches of pages were beyond what the kernel part remembers"},
    [LOSS_CLASS_ACCESSES] =
	{.name = "class_accesses",
	 .sentence = "accesses were to more fields, or from more contexts, than are listed"},
    [LOSS_STRATA] = {.name = "strata",
		     .sentence =
			 "accesses were to objects of more classes and sizes than are told apart"},
    [LOSS_CPU_CONTEXTS] =
	{.name = "cpu_contexts",
	 .sentence =
	     "ticks were in more calling contexts than are kept: in the sums, but not listed"},
    [LOSS_LOOP_TICKS] = {.name = "loop_ticks",
			 .sentence = "ticks were at more places in compiled code than are kept: in "
				     "the sums, but in no loop"},
    [LOSS_LOOPS] = {.name = "loops",
		    .sentence =
			"loops, callers of them or places in them were beyond the daemon's limit"},
    [LOSS_CODE] = {.name = "code",
		   .sentence =
		       "entries of compiled code for analysis could not be, and were dropped"},
    [LOSS_CPU_TIME] = {.name = "cpu_time",
		       .sentence = "times the agent claimed more CPU time than the processors had "
				   "since the window began, and was believed that much"},
};
