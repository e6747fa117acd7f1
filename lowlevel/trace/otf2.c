/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open Trace Format 2, for Vampir and the tools of Score-P: a location per row, a region per MPI function and
 * per type of operation, a marker where a rank changes its model. Such a trace is a folder with a file per
 * location and three more files. OTF2's library writes them; all definitions but those of texts come at
 * the end.
 */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/trace/names.h"
#include "lowlevel/trace/places.h"
#include "lowlevel/trace/sink.h"

/* Ticks per second of the clock: records have twelve digits after the point in all formats. */
#define TICKS 1e12

enum { RECENT_ROWS = 4096 };

enum attribute { MODEL, PHASE, BYTES, TARGET, ATTRIBUTE_COUNT };

struct location {
    OTF2_EvtWriter *writer;
    int name, node, rank; /* rank -1: a row of a NIC */
};

/* Found without its name. */
struct recent_row {
    bool known;
    int node, rank, lane, row;
};

struct otf2 {
    OTF2_Archive *archive;
    OTF2_MarkerWriter *markers;
    OTF2_AttributeList *attributes;
    OTF2_GlobalDefWriter *definitions;
    struct pf_trace_names strings, regions, rows, marks;
    OTF2_StringRef *region_names; /* by region */
    struct location *locations;   /* by row */
    FILE *recording;              /* NULL: there is none */
    struct recent_row recent[RECENT_ROWS];
};

static uint64_t ticks(double date)
{
    return (uint64_t)llround(date * TICKS);
}

/* The library's failure is the end of the run, as that of writing other files is. Nothing can be closed then.
 */
static bool failed;

static OTF2_ErrorCode on_error(void *data, const char *file, uint64_t line, const char *function,
                               OTF2_ErrorCode code, const char *format, va_list args)
{
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    if (failed || code < 0) /* a warning */
        return code;
    failed = true;
    pf_die("trace: OTF2: %s: %s", OTF2_Error_GetDescription(code), text);
}

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void *data, OTF2_FileType type, OTF2_LocationRef location)
{
    return 0;
}

/* One chunk of memory per file, which is written when it is full: a second one is refused. */
struct chunk {
    bool taken;
    _Alignas(16) char memory[];
};

static void *take_chunk(void *data, OTF2_FileType type, OTF2_LocationRef location, void **of_file,
                        uint64_t size)
{
    struct chunk *chunk = *of_file;
    if (!chunk)
        chunk = *of_file = calloc(1, sizeof *chunk + size);
    if (!chunk || chunk->taken)
        return NULL;
    chunk->taken = true;
    return chunk->memory;
}

static void give_chunk_back(void *data, OTF2_FileType type, OTF2_LocationRef location, void **of_file,
                            bool final)
{
    struct chunk *chunk = *of_file;
    if (!chunk)
        return;
    chunk->taken = false;
    if (final) {
        free(chunk);
        *of_file = NULL;
    }
}

/* The folder of an earlier trace goes; one with other files does not. */
static void remove_folder(const char *folder)
{
    char path[4096];
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        size_t digits = strspn(entry->d_name, "0123456789");
        if (digits == 0 ||
            (strcmp(entry->d_name + digits, ".evt") != 0 && strcmp(entry->d_name + digits, ".def") != 0))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    if (rmdir(folder) != 0 && errno != ENOENT)
        pf_die("trace: the events of an OTF2 trace go to the folder '%s', which holds something else",
               folder);
}

static void open_archive(struct otf2 *otf2, const char *file)
{
    static const OTF2_FlushCallbacks flush = {before_flush, after_flush};
    static const OTF2_MemoryCallbacks memory = {take_chunk, give_chunk_back};
    char path[4096];
    snprintf(path, sizeof path, "%.*s", (int)(strlen(file) - strlen(pf_trace_otf2.suffix)), file);
    remove_folder(path);
    char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (slash)
        *slash = 0;
    const char *folder = !slash ? "." : slash == path ? "/" : path;
    OTF2_Error_RegisterCallback(on_error, NULL);
    otf2->archive =
        OTF2_Archive_Open(folder, name, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_Archive_SetFlushCallbacks(otf2->archive, &flush, NULL);
    OTF2_Archive_SetMemoryCallbacks(otf2->archive, &memory, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(otf2->archive);
    OTF2_Archive_SetCreator(otf2->archive, "Parfocal " PF_VERSION);
    OTF2_Archive_OpenEvtFiles(otf2->archive);
}

static void otf2_open(struct pf_trace_sink *sink)
{
    struct otf2 *otf2 = pf_calloc(1, sizeof *otf2);
    sink->state = otf2;
    sink->output.begun = true; /* the library writes that file too */
    open_archive(otf2, sink->output.path);
    otf2->definitions = OTF2_Archive_GetGlobalDefWriter(otf2->archive);
    otf2->attributes = OTF2_AttributeList_New();
}

/* Texts are defined before something else names them. */
static OTF2_StringRef string(struct otf2 *otf2, const char *text)
{
    bool is_new;
    OTF2_StringRef number = (OTF2_StringRef)pf_trace_number(&otf2->strings, text, &is_new);
    if (is_new)
        OTF2_GlobalDefWriter_WriteString(otf2->definitions, number, text);
    return number;
}

static OTF2_StringRef lasting_string(struct otf2 *otf2, const char *text)
{
    bool is_new;
    OTF2_StringRef number = (OTF2_StringRef)pf_trace_number_of_lasting(&otf2->strings, text, NULL, &is_new);
    if (is_new)
        OTF2_GlobalDefWriter_WriteString(otf2->definitions, number, text);
    return number;
}

static int region_of(struct otf2 *otf2, const struct pf_trace_record *record)
{
    bool is_new;
    const char *name = pf_trace_name(record);
    int region = pf_trace_number_of_lasting(&otf2->regions, name, NULL, &is_new);
    if (is_new) {
        otf2->region_names = pf_array_double(otf2->region_names, (size_t)region, sizeof *otf2->region_names);
        otf2->region_names[region] = string(otf2, name);
    }
    return region;
}

static int location_of(struct otf2 *otf2, const struct pf_trace_record *record)
{
    char name[64];
    bool is_new;
    int node = pf_trace_node(record), rank = record->track == PF_TRACE_RANK ? record->from.rank : -1;
    int lane = rank >= 0 ? rank : (record->lane * PF_TRACE_TRACK_COUNT + (int)record->track);
    uint64_t key = (uint64_t)(unsigned)node << 32 | (unsigned)lane;
    struct recent_row *recent = &otf2->recent[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % RECENT_ROWS];
    if (recent->known && recent->node == node && recent->rank == rank && recent->lane == lane)
        return recent->row;
    if (rank >= 0)
        snprintf(name, sizeof name, "rank %d", rank);
    else
        snprintf(name, sizeof name, "%s %d of nid %d", pf_trace_track_name(record->track), record->lane + 1,
                 node);
    int row = pf_trace_number(&otf2->rows, name, &is_new);
    if (is_new) {
        otf2->locations = pf_array_double(otf2->locations, (size_t)row, sizeof *otf2->locations);
        otf2->locations[row] =
            (struct location){OTF2_Archive_GetEvtWriter(otf2->archive, (OTF2_LocationRef)row),
                              (int)string(otf2, name), node, rank};
    }
    *recent = (struct recent_row){true, node, rank, lane, row};
    return row;
}

static void otf2_begin(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct otf2 *otf2 = sink->state;
    OTF2_AttributeList *list = otf2->attributes;
    int row = location_of(otf2, record);
    if (pf_trace_is_mark(record))
        return;
    if (record->model) {
        OTF2_AttributeList_AddStringRef(list, MODEL, lasting_string(otf2, record->model));
        OTF2_AttributeList_AddStringRef(list, PHASE, lasting_string(otf2, record->phase));
    } else {
        OTF2_AttributeList_AddUint64(list, BYTES, record->bytes);
        OTF2_AttributeList_AddUint32(list, TARGET, (uint32_t)record->to.node);
    }
    OTF2_EvtWriter_Enter(otf2->locations[row].writer, list, ticks(record->start),
                         (OTF2_RegionRef)region_of(otf2, record));
}

/* A switch of a rank; its text says in which phase. */
static void write_mark(struct otf2 *otf2, const struct pf_trace_record *record)
{
    char text[64];
    bool is_new;
    if (!otf2->markers)
        otf2->markers = OTF2_Archive_GetMarkerWriter(otf2->archive);
    snprintf(text, sizeof text, "%s to %s", record->from_model, record->model);
    int mark = pf_trace_number(&otf2->marks, text, &is_new);
    if (is_new)
        OTF2_MarkerWriter_WriteDefMarker(otf2->markers, (OTF2_MarkerRef)mark, "switch", text,
                                         OTF2_SEVERITY_LOW);
    OTF2_MarkerWriter_WriteMarker(otf2->markers, ticks(record->start), 0, (OTF2_MarkerRef)mark,
                                  OTF2_MARKER_SCOPE_LOCATION, (uint64_t)location_of(otf2, record),
                                  record->phase);
}

static void otf2_end(struct pf_trace_sink *sink, const struct pf_trace_record *record)
{
    struct otf2 *otf2 = sink->state;
    if (pf_trace_is_mark(record))
        write_mark(otf2, record);
    else
        OTF2_EvtWriter_Leave(otf2->locations[location_of(otf2, record)].writer, NULL, ticks(record->end),
                             (OTF2_RegionRef)region_of(otf2, record));
}

/* The machine is node 0 of the tree; those of the network follow, and each with its NIC as a group of rows. A
 * rank is a group with one row. */
static void define_locations(struct otf2 *otf2)
{
    OTF2_GlobalDefWriter *out = otf2->definitions;
    struct pf_trace_names nodes = {0}, groups = {0};
    bool is_new;
    OTF2_GlobalDefWriter_WriteSystemTreeNode(out, 0, string(otf2, "simulated machine"),
                                             string(otf2, "machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (int i = 0; i < otf2->rows.count; i++) {
        const struct location *location = &otf2->locations[i];
        char name[64];
        bool is_rank = location->rank >= 0;
        const char *host = pf_trace_host_name(location->node);
        int node = 1 + pf_trace_number(&nodes, host, &is_new);
        if (is_new)
            OTF2_GlobalDefWriter_WriteSystemTreeNode(out, (OTF2_SystemTreeNodeRef)node, string(otf2, host),
                                                     string(otf2, "node"), 0);
        snprintf(name, sizeof name, is_rank ? "rank %d" : "NIC of nid %d",
                 is_rank ? location->rank : location->node);
        int group = pf_trace_number(&groups, name, &is_new);
        if (is_new)
            OTF2_GlobalDefWriter_WriteLocationGroup(
                out, (OTF2_LocationGroupRef)group, string(otf2, name),
                is_rank ? OTF2_LOCATION_GROUP_TYPE_PROCESS : OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                (OTF2_SystemTreeNodeRef)node, OTF2_UNDEFINED_LOCATION_GROUP);
        uint64_t events = 0;
        OTF2_EvtWriter_GetNumberOfEvents(location->writer, &events);
        OTF2_GlobalDefWriter_WriteLocation(out, (OTF2_LocationRef)i, (OTF2_StringRef)location->name,
                                           is_rank ? OTF2_LOCATION_TYPE_CPU_THREAD
                                                   : OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
                                           events, (OTF2_LocationGroupRef)group);
    }
    pf_trace_names_free(&nodes);
    pf_trace_names_free(&groups);
}

static void define_regions(struct otf2 *otf2)
{
    for (int i = 0; i < otf2->regions.count; i++) {
        const char *text = pf_trace_named(&otf2->strings, (int)otf2->region_names[i]);
        OTF2_Paradigm paradigm = strncmp(text, "MPI_", 4) == 0 ? OTF2_PARADIGM_MPI
                                 : strcmp(text, pf_trace_type_name(PF_TRACE_COMPUTE)) == 0
                                     ? OTF2_PARADIGM_USER
                                     : OTF2_PARADIGM_UNKNOWN;
        OTF2_StringRef name = otf2->region_names[i];
        OTF2_GlobalDefWriter_WriteRegion(otf2->definitions, (OTF2_RegionRef)i, name, name, string(otf2, ""),
                                         OTF2_REGION_ROLE_FUNCTION, paradigm, OTF2_REGION_FLAG_NONE,
                                         OTF2_UNDEFINED_STRING, 0, 0);
    }
}

static void define_attributes(struct otf2 *otf2)
{
    static const struct {
        const char *name, *meaning;
        OTF2_Type type;
    } all[ATTRIBUTE_COUNT] = {
        [MODEL] = {"model", "the model in force for the rank", OTF2_TYPE_STRING},
        [PHASE] = {"phase", "the phase of the application", OTF2_TYPE_STRING},
        [BYTES] = {"bytes", "payload of a message; what crosses the bus", OTF2_TYPE_UINT64},
        [TARGET] = {"target", "nid of the node at which a message ends", OTF2_TYPE_UINT32},
    };
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        OTF2_GlobalDefWriter_WriteAttribute(otf2->definitions, (OTF2_AttributeRef)i,
                                            string(otf2, all[i].name), string(otf2, all[i].meaning),
                                            all[i].type);
}

static void otf2_recorded(struct pf_trace_sink *sink, int fd)
{
    struct otf2 *otf2 = sink->state;
    int own = dup(fd);
    otf2->recording = own < 0 ? NULL : fdopen(own, "r");
    if (otf2->recording)
        rewind(otf2->recording);
}

/* The row of a rank; -1: it is not traced. */
static int row_of(const struct otf2 *otf2, int rank)
{
    for (int i = 0; i < otf2->rows.count; i++)
        if (otf2->locations[i].rank == rank)
            return i;
    return -1;
}

/* A part of what a rank has recorded is a property of its location: a text, whose number among them is in the
 * property's name. These texts are the last ones and are not kept: they may be long. */
static void write_part(struct otf2 *otf2, int row, int part, OTF2_StringRef *next, const char *text)
{
    char name[40];
    snprintf(name, sizeof name, PF_TRACE_OTF2_RECORDING "%d", part);
    OTF2_StringRef name_ref = (*next)++, text_ref = (*next)++;
    OTF2_AttributeValue value = {.stringRef = text_ref};
    OTF2_GlobalDefWriter_WriteString(otf2->definitions, name_ref, name);
    OTF2_GlobalDefWriter_WriteString(otf2->definitions, text_ref, text);
    OTF2_GlobalDefWriter_WriteLocationProperty(otf2->definitions, (OTF2_LocationRef)row, name_ref,
                                               OTF2_TYPE_STRING, value);
}

/* Where a rank is not traced, a part would be missing: nothing is written then. */
static void define_recording(struct otf2 *otf2)
{
    enum { PART = 32768 };
    char *line = NULL, *text = pf_malloc(PART + 1);
    size_t room = 0, used = 0;
    ssize_t length;
    int rank = -1, part = 0, ranks = 0, found = 0;
    OTF2_StringRef next = (OTF2_StringRef)otf2->strings.count;
    if (getline(&line, &room, otf2->recording) > 0)
        sscanf(line, "# parfocal-replay %*d ranks %d", &ranks);
    for (int i = 0; i < ranks; i++)
        found += row_of(otf2, i) >= 0;
    while (found == ranks && (length = getline(&line, &room, otf2->recording)) > 0) {
        int mine = atoi(line);
        for (const char *at = line; length > 0;) {
            if (used > 0 && (used == PART || (mine != rank && at == line))) {
                write_part(otf2, row_of(otf2, rank), part++, &next, text);
                used = 0;
            }
            if (mine != rank)
                part = 0;
            rank = mine;
            size_t more = (size_t)length < PART - used ? (size_t)length : PART - used;
            memcpy(text + used, at, more);
            used += more;
            text[used] = 0;
            at += more;
            length -= (ssize_t)more;
        }
    }
    if (used > 0)
        write_part(otf2, row_of(otf2, rank), part, &next, text);
    free(line);
    free(text);
    fclose(otf2->recording);
}

static void otf2_close(struct pf_trace_sink *sink, double date)
{
    struct otf2 *otf2 = sink->state;
    if (failed)
        return;
    OTF2_GlobalDefWriter_WriteClockProperties(otf2->definitions, (uint64_t)TICKS, 0, ticks(date) + 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    define_attributes(otf2);
    define_regions(otf2);
    define_locations(otf2);
    if (otf2->recording)
        define_recording(otf2);
    for (int i = 0; i < otf2->rows.count; i++)
        OTF2_Archive_CloseEvtWriter(otf2->archive, otf2->locations[i].writer);
    OTF2_Archive_CloseEvtFiles(otf2->archive);
    OTF2_Archive_OpenDefFiles(otf2->archive);
    for (int i = 0; i < otf2->rows.count; i++) /* readers want them, with nothing in them */
        OTF2_Archive_CloseDefWriter(otf2->archive,
                                    OTF2_Archive_GetDefWriter(otf2->archive, (OTF2_LocationRef)i));
    OTF2_Archive_CloseDefFiles(otf2->archive);
    if (otf2->markers)
        OTF2_Archive_CloseMarkerWriter(otf2->archive, otf2->markers);
    OTF2_AttributeList_Delete(otf2->attributes);
    OTF2_Archive_Close(otf2->archive);
    pf_trace_names_free(&otf2->strings);
    pf_trace_names_free(&otf2->regions);
    pf_trace_names_free(&otf2->rows);
    pf_trace_names_free(&otf2->marks);
    free(otf2->region_names);
    free(otf2->locations);
    free(otf2);
}

const struct pf_trace_sink_ops pf_trace_otf2 = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "otf2",
    .suffix = ".otf2",
    .open = otf2_open,
    .begin = otf2_begin,
    .end = otf2_end,
    .recorded = otf2_recorded,
    .close = otf2_close,
};
