/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * References of a library to its own functions that go past its import table, as linkers make them with
 * -Bsymbolic-functions. In an image they are led, once for all copies, to a jump behind the library, which
 * goes where each copy says: the word before the jump is that of an import.
 */
#include <string.h>

#include "loader/image_layout.h"

size_t pf_image_inner_room(const struct pf_image_plan *plan)
{
    size_t count = 0;
    while (plan->inner && plan->inner[count])
        count++;
    return count * PF_IMAGE_SLOT;
}

/* lea of %rip with 64 bits. */
static bool is_lea(const unsigned char *distance)
{
    return (distance[-1] & 0xc7) == 0x05 && distance[-2] == 0x8d && (distance[-3] & 0xfb) == 0x48;
}

/* That, and call and jmp with a distance from the next instruction. */
static bool refers(const unsigned char *distance)
{
    enum { CALL = 0xe8, JUMP = 0xe9 };
    return distance[-1] == CALL || distance[-1] == JUMP || is_lea(distance);
}

/* Bytes that are part of something else and look like a reference to it come once in 2^31 bytes by chance. */
static bool lead(char *bytes, size_t start, size_t end, size_t function, size_t jump)
{
    bool any = false;
    int32_t distance;
    for (size_t at = start + 3; at + sizeof distance <= end; at++) {
        memcpy(&distance, bytes + at, sizeof distance);
        if (at + sizeof distance + (size_t)(ptrdiff_t)distance != function ||
            !refers((const unsigned char *)bytes + at))
            continue;
        distance = (int32_t)(jump - (at + sizeof distance));
        memcpy(bytes + at, &distance, sizeof distance);
        any = true;
    }
    return any;
}

/* lea of %rip with 64 bits becomes mov of a constant, which is as long. False if another instruction has such
 * an operand. */
static bool set(char *bytes, size_t start, size_t end, size_t variable, uint32_t value)
{
    bool good = true;
    int32_t distance;
    for (size_t at = start + 3; at + sizeof distance <= end; at++) {
        unsigned char *code = (unsigned char *)bytes + at - 3;
        memcpy(&distance, bytes + at, sizeof distance);
        if (at + sizeof distance + (size_t)(ptrdiff_t)distance != variable || (code[2] & 0xc7) != 0x05)
            continue;
        if (!is_lea(code + 3)) {
            good = false;
            continue;
        }
        code[2] = 0xc0 | (code[2] >> 3 & 7);
        code[1] = 0xc7;
        code[0] = 0x48 | (code[0] >> 2 & 1);
        memcpy(bytes + at, &value, sizeof value);
    }
    return good;
}

bool pf_image_inner_set(const struct pf_image *image, const struct pf_image_object *object, Elf *elf,
                        size_t variable, size_t value)
{
    size_t count = 0;
    bool good = true;
    GElf_Phdr segment;
    elf_getphdrnum(elf, &count);
    for (int i = 0; i < (int)count && gelf_getphdr(elf, i, &segment); i++)
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
            good &= set(image->bytes, object->base + segment.p_vaddr,
                        object->base + segment.p_vaddr + segment.p_filesz, variable, (uint32_t)value);
    return good;
}

bool pf_image_inner_lead(const struct pf_image *image, const struct pf_image_object *object, Elf *elf,
                         size_t function, size_t slot)
{
    static const unsigned char jump[] = {0xff, 0x25, 0xf2, 0xff, 0xff, 0xff}; /* jmp *-14(%rip) */
    size_t count = 0, place = slot + sizeof(uint64_t);
    bool any = false;
    GElf_Phdr segment;
    elf_getphdrnum(elf, &count);
    for (int i = 0; i < (int)count && gelf_getphdr(elf, i, &segment); i++)
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
            any |= lead(image->bytes, object->base + segment.p_vaddr,
                        object->base + segment.p_vaddr + segment.p_filesz, function, place);
    if (any)
        memcpy(image->bytes + place, jump, sizeof jump);
    return any;
}
