/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles and runs the program that measures. */
#include "tools/pfinfo/measuring.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "adapters/model.h"
#include "base/log.h"
#include "base/memory.h"
#include "measure_source.h"

static struct trial trial;

/* pf_die() ends the process at once: the directory must not stay behind. */
void measuring_give_up(const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    trial_end(&trial);
    pf_die("%s", text);
}

void measuring_begin(void)
{
    const char *wrong = trial_begin(&trial);
    if (wrong)
        pf_die("--fit: %s", wrong);
    trial.seconds = 900; /* 64 ranks in a fine model, on a busy machine */
    char line[400], *argv[] = {trial.pfcc, "-O1", "-o", trial.app, trial.source, NULL};
    FILE *file = fopen(trial.source, "w");
    if (!file || fputs(measure_source, file) < 0 || fclose(file) != 0)
        measuring_give_up("--fit: cannot write '%s': %s", trial.source, strerror(errno));
    if (trial_run(&trial, argv) != 0)
        measuring_give_up("--fit: pfcc: %s", trial_last_line(&trial, line, sizeof line));
}

void measuring_end(void)
{
    trial_end(&trial);
}

void fit_print_program(FILE *out)
{
    fputs(measure_source, out);
}

/* Background traffic and links that fail are the packet network's: the other runs of a fit go
 * without, as pfrun would refuse. */
static bool is_for_packets_only(const char *argument, const char *model)
{
    enum pf_model m;
    const char *name = argument + strspn(argument, "-");
    if (name == argument || (strcmp(name, "background") != 0 && strcmp(name, "fail") != 0))
        return false;
    return pf_model_parse(model, strlen(model), &m) && strcmp(pf_model_network(m), "packet") != 0 &&
           strcmp(pf_model_network(m), "external") != 0;
}

int measuring_run(const struct fit_request *request, const char *model, char *const *more, bool must,
                  const char *what, const char *from)
{
    static char *quiet[] = {"--log=root.thres:critical", "--cfg=smpi/simulate-computation:no"};
    int count = 0, n = 0;
    while (more && more[count])
        count++;
    char line[400], **argv = pf_calloc((size_t)(request->run_count + count) + 13, sizeof *argv);
    bool has_np = false;
    argv[n++] = trial.pfrun;
    for (int i = 0; i < request->run_count; i++) {
        if (is_for_packets_only(request->run[i], model)) {
            i++;
            continue;
        }
        has_np = has_np || strcmp(request->run[i], "-np") == 0 || strcmp(request->run[i], "-n") == 0 ||
                 strcmp(request->run[i], "-hostfile") == 0;
        argv[n++] = request->run[i];
    }
    if (!has_np) {
        argv[n++] = "-np";
        argv[n++] = "16";
    }
    argv[n++] = "-model";
    argv[n++] = (char *)model;
    argv[n++] = quiet[0];
    argv[n++] = quiet[1];
    for (int i = 0; i < count; i++)
        argv[n++] = more[i];
    argv[n++] = trial.app;
    argv[n++] = (char *)what;
    argv[n++] = (char *)from;
    int status = trial_run(&trial, argv);
    free(argv);
    if (status != 0 && must)
        measuring_give_up("--fit: the run in model %s ended with status %d: %s", model, status,
                          trial_last_line(&trial, line, sizeof line));
    return status;
}

FILE *measuring_output(void)
{
    FILE *file = fopen(trial.output, "r");
    if (!file)
        measuring_give_up("--fit: cannot read '%s': %s", trial.output, strerror(errno));
    return file;
}
