/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading shared objects from disk. What is where, libelf knows, also in files that are damaged. */
#include "loader/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Opens the mapping for libelf; what it finds there lies inside the mapping. */
static Elf *begin(const struct pf_elf *elf)
{
    elf_version(EV_CURRENT);
    return elf_memory(elf->bytes, elf->size);
}

/* The section of a type and its entries; false when there is none. */
static bool find_section(Elf *file, GElf_Word type, GElf_Shdr *header, Elf_Data **data)
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file, section));)
        if (gelf_getshdr(section, header) && header->sh_type == type &&
            (*data = elf_getdata(section, NULL)) && (*data)->d_buf)
            return true;
    return false;
}

static bool inside(const struct pf_elf *elf, const void *place)
{
    uintptr_t at = (uintptr_t)place, low = (uintptr_t)elf->bytes;
    return at >= low && at < low + elf->size;
}

/* A text of the table of strings, inside the file, or NULL. */
static char *text_at(const struct pf_elf *elf, Elf *file, GElf_Word strings, size_t offset)
{
    char *text = elf_strptr(file, strings, offset);
    return text && inside(elf, text) ? text : NULL;
}

static void add_name(struct pf_elf *elf, struct pf_elf_name name)
{
    if (!name.text)
        return;
    elf->names = pf_realloc(elf->names, ((size_t)elf->name_count + 1) * sizeof *elf->names);
    elf->names[elf->name_count++] = name;
}

static void read_dynamic(struct pf_elf *elf, Elf *file, const GElf_Shdr *header, Elf_Data *data)
{
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        size_t place = header->sh_offset + (size_t)i * sizeof(Elf64_Dyn);
        if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE))
            elf->is_executable = true;
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME && entry.d_tag != DT_RUNPATH &&
            entry.d_tag != DT_RPATH)
            continue;
        char *text = text_at(elf, file, header->sh_link, entry.d_un.d_val);
        if (entry.d_tag == DT_NEEDED)
            add_name(elf, (struct pf_elf_name){text, PF_ELF_NEEDED, place});
        else if (entry.d_tag == DT_SONAME)
            add_name(elf, (struct pf_elf_name){text, PF_ELF_OWN, place});
        if (entry.d_tag == DT_SONAME)
            elf->soname = text;
        if (entry.d_tag == DT_RUNPATH || (entry.d_tag == DT_RPATH && !elf->search))
            elf->search = text;
    }
}

/* The libraries from which versions of symbols are wanted. */
static void read_versions(struct pf_elf *elf, Elf *file)
{
    GElf_Shdr header;
    GElf_Verneed need;
    Elf_Data *data;
    if (!find_section(file, SHT_GNU_verneed, &header, &data))
        return;
    for (int offset = 0; gelf_getverneed(data, offset, &need); offset += (int)need.vn_next) {
        add_name(elf,
                 (struct pf_elf_name){text_at(elf, file, header.sh_link, need.vn_file), PF_ELF_VERSIONS, 0});
        if (!need.vn_next || need.vn_next > data->d_size)
            return;
    }
}

static enum pf_elf_fault read_all(struct pf_elf *elf, Elf *file)
{
    GElf_Ehdr header;
    GElf_Shdr section;
    Elf_Data *data;
    if (elf_kind(file) != ELF_K_ELF || !gelf_getehdr(file, &header))
        return PF_ELF_FOREIGN;
    if (gelf_getclass(file) != ELFCLASS64 || header.e_machine != EM_X86_64)
        return PF_ELF_MACHINE;
    if (header.e_type != ET_DYN && header.e_type != ET_EXEC)
        return PF_ELF_NO_IMAGE;
    elf->is_executable = header.e_type == ET_EXEC;
    elf->is_movable = header.e_type == ET_DYN;
    elf->entry = header.e_entry;
    if (!find_section(file, SHT_DYNAMIC, &section, &data))
        return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize > elf->size ? PF_ELF_DAMAGED
                                                                                        : PF_ELF_STATIC;
    if (section.sh_offset % _Alignof(Elf64_Dyn))
        return PF_ELF_DAMAGED;
    read_dynamic(elf, file, &section, data);
    read_versions(elf, file);
    return PF_ELF_GOOD;
}

static enum pf_elf_fault map_file(struct pf_elf *elf, const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
    if (fd < 0)
        return PF_ELF_UNREADABLE;
    void *bytes = MAP_FAILED;
    if (fstat(fd, &info) == 0 && info.st_size > 0)
        bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    error = errno;
    close(fd);
    errno = error;
    if (bytes == MAP_FAILED)
        return info.st_size > 0 ? PF_ELF_UNREADABLE : PF_ELF_EMPTY;
    elf->bytes = bytes;
    elf->size = (size_t)info.st_size;
    return PF_ELF_GOOD;
}

enum pf_elf_fault pf_elf_read(struct pf_elf *elf, const char *path)
{
    *elf = (struct pf_elf){.path = pf_strdup(path)};
    enum pf_elf_fault fault = map_file(elf, path);
    if (fault)
        return fault;
    Elf *file = begin(elf);
    fault = file ? read_all(elf, file) : PF_ELF_FOREIGN;
    elf_end(file);
    return fault;
}

void pf_elf_free(struct pf_elf *elf)
{
    if (elf->bytes)
        munmap(elf->bytes, elf->size);
    free(elf->path);
    free(elf->names);
    *elf = (struct pf_elf){0};
}

const char *pf_elf_fault_text(enum pf_elf_fault fault)
{
    static const char *const texts[] = {
        [PF_ELF_GOOD] = "is as it should be",
        [PF_ELF_UNREADABLE] = "cannot be read",
        [PF_ELF_EMPTY] = "is empty",
        [PF_ELF_FOREIGN] = "is not a compiled program",
        [PF_ELF_MACHINE] = "was compiled for another processor",
        [PF_ELF_NO_IMAGE] = "is not a program",
        [PF_ELF_STATIC] = "is statically linked",
        [PF_ELF_DAMAGED] = "is truncated",
    };
    return texts[fault];
}

bool pf_elf_is_called(const struct pf_elf *elf, const char *name)
{
    const char *slash = strrchr(elf->path, '/');
    return strcmp(elf->path, name) == 0 || (slash && strcmp(slash + 1, name) == 0) ||
           (elf->soname && strcmp(elf->soname, name) == 0);
}

bool pf_elf_needs(const struct pf_elf *elf, const char *prefix)
{
    for (int i = 0; i < elf->name_count; i++)
        if (elf->names[i].kind == PF_ELF_NEEDED && strncmp(elf->names[i].text, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

/* Where a virtual address lies in the file, NULL if no segment holds it. */
static const char *content_at(const struct pf_elf *elf, Elf *file, GElf_Addr address)
{
    GElf_Phdr segment;
    size_t count = 0;
    elf_getphdrnum(file, &count);
    for (int i = 0; i < (int)count && gelf_getphdr(file, i, &segment); i++)
        if (segment.p_type == PT_LOAD && address - segment.p_vaddr < segment.p_filesz &&
            segment.p_offset + (address - segment.p_vaddr) < elf->size)
            return elf->bytes + segment.p_offset + (address - segment.p_vaddr);
    return NULL;
}

/* A table of strings as a whole; NULL unless it lies inside the file and ends with the end of a string. */
static char *string_table(const struct pf_elf *elf, Elf *file, GElf_Word section, size_t *size)
{
    GElf_Shdr header;
    Elf_Scn *found = elf_getscn(file, section);
    if (!found || !gelf_getshdr(found, &header) || header.sh_size == 0 || header.sh_size > elf->size ||
        header.sh_offset > elf->size - header.sh_size ||
        elf->bytes[header.sh_offset + header.sh_size - 1] != '\0')
        return NULL;
    *size = header.sh_size;
    return elf->bytes + header.sh_offset;
}

bool pf_elf_symbols(const struct pf_elf *elf,
                    bool (*each)(char *name, size_t address, size_t size, const void *arg), const void *arg)
{
    GElf_Shdr header;
    Elf_Data *data;
    Elf *file = begin(elf);
    size_t size = 0;
    bool found = false;
    if (file && find_section(file, SHT_DYNSYM, &header, &data)) {
        char *strings = string_table(elf, file, header.sh_link, &size);
        const Elf64_Sym *symbol = data->d_buf; /* as gelf_getsym() would give them, one call each */
        for (size_t left = strings ? data->d_size / sizeof *symbol : 0; left > 0 && !found; left--, symbol++)
            if (symbol->st_name && symbol->st_name < size)
                found = each(strings + symbol->st_name, symbol->st_shndx ? symbol->st_value : 0,
                             symbol->st_size, arg);
    }
    elf_end(file);
    return found;
}

/* The dynamic symbols where they lie in the bytes; NULL, and 0, when that is outside of them. */
static Elf64_Sym *symbols_in_place(const struct pf_elf *elf, Elf *file, GElf_Shdr *header, size_t *count)
{
    Elf_Data *data;
    bool lies = file && find_section(file, SHT_DYNSYM, header, &data) && header->sh_offset <= elf->size &&
                header->sh_offset % _Alignof(Elf64_Sym) == 0 &&
                header->sh_size <= elf->size - header->sh_offset;
    *count = lies ? header->sh_size / sizeof(Elf64_Sym) : 0;
    return lies ? (Elf64_Sym *)(elf->bytes + header->sh_offset) : NULL;
}

void pf_elf_make_own(struct pf_elf *elf)
{
    GElf_Shdr header;
    Elf *file = begin(elf);
    size_t left;
    for (Elf64_Sym *symbol = symbols_in_place(elf, file, &header, &left); left > 0; left--, symbol++)
        if (ELF64_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE)
            symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol->st_info));
    elf_end(file);
}

int pf_elf_weaken(struct pf_elf *elf, bool (*which)(const char *name, const void *arg), const void *arg)
{
    GElf_Shdr header;
    Elf *file = begin(elf);
    size_t left, size = 0;
    int changed = 0;
    Elf64_Sym *symbol = symbols_in_place(elf, file, &header, &left);
    const char *strings = symbol ? string_table(elf, file, header.sh_link, &size) : NULL;
    for (; strings && left > 0; left--, symbol++) {
        if (symbol->st_shndx != SHN_UNDEF || !symbol->st_name || symbol->st_name >= size ||
            !which(strings + symbol->st_name, arg))
            continue;
        symbol->st_info = ELF64_ST_INFO(STB_WEAK, ELF64_ST_TYPE(symbol->st_info));
        changed++;
    }
    elf_end(file);
    return changed;
}

/* Entries of the dynamic section get other tags. */
static void hide(struct pf_elf *elf, const int64_t (*tags)[2], int count)
{
    GElf_Shdr header;
    Elf_Data *data;
    Elf *file = begin(elf);
    if (file && find_section(file, SHT_DYNAMIC, &header, &data) && header.sh_offset <= elf->size &&
        header.sh_offset % _Alignof(Elf64_Dyn) == 0 && header.sh_size <= elf->size - header.sh_offset) {
        Elf64_Dyn *entry = (Elf64_Dyn *)(elf->bytes + header.sh_offset);
        for (size_t left = header.sh_size / sizeof *entry; left > 0; left--, entry++)
            for (int i = 0; i < count; i++)
                if (entry->d_tag == tags[i][0])
                    entry->d_tag = tags[i][1];
    }
    elf_end(file);
}

void pf_elf_forget(struct pf_elf *elf, int name)
{
    Elf64_Dyn *entry = (void *)(elf->bytes + elf->names[name].entry);
    entry->d_tag = PF_ELF_FORGOTTEN;
}

void pf_elf_keep_ends(struct pf_elf *elf)
{
    static const int64_t tags[][2] = {{DT_FINI_ARRAY, PF_ELF_ENDS}, {DT_FINI_ARRAYSZ, PF_ELF_ENDS_SIZE}};
    hide(elf, tags, 2);
}

/* Whether it has functions that are chosen when it is loaded, or relocations in its code. */
static bool is_called_by_linker(Elf *file)
{
    GElf_Shdr header;
    GElf_Dyn entry;
    GElf_Rela relocation;
    GElf_Sym symbol;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file, section));) {
        Elf_Data *data = gelf_getshdr(section, &header) ? elf_getdata(section, NULL) : NULL;
        for (int i = 0; header.sh_type == SHT_DYNAMIC && gelf_getdyn(data, i, &entry); i++)
            if (entry.d_tag == DT_TEXTREL || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL)))
                return true;
        for (int i = 0; header.sh_type == SHT_RELA && gelf_getrela(data, i, &relocation); i++)
            if (GELF_R_TYPE(relocation.r_info) == R_X86_64_IRELATIVE)
                return true;
        for (int i = 0; header.sh_type == SHT_DYNSYM && gelf_getsym(data, i, &symbol); i++)
            if (GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
                return true;
    }
    return false;
}

bool pf_elf_keep_begin(struct pf_elf *elf)
{
    static const int64_t tags[][2] = {
        {DT_INIT, PF_ELF_BEGIN}, {DT_INIT_ARRAY, PF_ELF_BEGINS}, {DT_INIT_ARRAYSZ, PF_ELF_BEGINS_SIZE}};
    Elf *file = begin(elf);
    elf->late = file && !is_called_by_linker(file);
    elf_end(file);
    if (elf->late)
        hide(elf, tags, 3);
    return elf->late;
}

bool pf_elf_is_unread(const struct pf_elf *elf, const Elf64_Phdr *segment)
{
    GElf_Shdr header;
    Elf *file = begin(elf);
    bool unread = file && segment->p_offset > 0; /* where its own header is */
    for (Elf_Scn *section = NULL; unread && (section = elf_nextscn(file, section));)
        unread = !gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC) ||
                 header.sh_type == SHT_PROGBITS || header.sh_addr - segment->p_vaddr >= segment->p_memsz;
    elf_end(file);
    return unread;
}

struct wanted {
    const char *symbol;
    size_t *address;
};

static bool is_wanted(char *name, size_t address, size_t size, const void *arg)
{
    const struct wanted *wanted = arg;
    if (!address || strcmp(name, wanted->symbol) != 0)
        return false;
    *wanted->address = address;
    return true;
}

const char *pf_elf_string(const struct pf_elf *elf, const char *symbol)
{
    size_t address;
    const struct wanted wanted = {symbol, &address};
    if (!pf_elf_symbols(elf, is_wanted, &wanted))
        return NULL;
    Elf *file = begin(elf);
    const char *content = file ? content_at(elf, file, address) : NULL;
    elf_end(file);
    return content && memchr(content, 0, elf->size - (size_t)(content - elf->bytes)) ? content : NULL;
}

bool pf_elf_need(struct pf_elf *elf, size_t entry, const char *text)
{
    GElf_Shdr header;
    Elf_Data *data;
    Elf *file = begin(elf);
    size_t size = 0;
    const char *strings = file && find_section(file, SHT_DYNAMIC, &header, &data)
                              ? string_table(elf, file, header.sh_link, &size)
                              : NULL;
    bool good = strings && text >= strings && text < strings + size;
    elf_end(file);
    if (good) {
        Elf64_Dyn *changed = (void *)(elf->bytes + entry);
        changed->d_tag = DT_NEEDED;
        changed->d_un.d_val = (size_t)(text - strings);
    }
    return good;
}

size_t pf_elf_spare_entry(const struct pf_elf *elf)
{
    GElf_Shdr header;
    GElf_Dyn entry;
    Elf_Data *data;
    Elf *file = begin(elf);
    size_t found = 0;
    if (file && find_section(file, SHT_DYNAMIC, &header, &data))
        for (int i = 0; !found && gelf_getdyn(data, i, &entry); i++)
            if (entry.d_tag == DT_NULL &&
                gelf_getdyn(data, i + 1, &entry)) /* the last one ends the section */
                found = header.sh_offset + (size_t)i * sizeof(Elf64_Dyn);
    elf_end(file);
    return found;
}
