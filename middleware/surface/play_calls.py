# SPDX-License-Identifier: BSD-3-Clause
"""play_calls.c: for each MPI function, an action of that name that reads its arguments from a line and calls it (tools/pfreplay)."""

import cfile
import replay

READ = {
    "comm": "play_comm(play_int(\"a communicator\"))", "comm_pointer": "play_comm_slot(play_int(\"a communicator\"))",
    "new_comm": "play_new_comm()", "win": "*play_win(play_int(\"a window\"))",
    "win_pointer": "play_win(play_int(\"a window\"))", "new_win": "play_win(play_int(\"a window\"))",
    "request_pointer": "play_request(play_int(\"a request\"))", "new_request": "play_request(play_int(\"a request\"))",
    "message_pointer": "play_message(play_int(\"a message\"))", "new_message": "play_message(play_int(\"a message\"))",
    "group": "play_group()", "op": "play_op(play_word(\"an operation\"))", "type": "play_type()",
    "rank": "play_rank(\"a rank\")", "tag": "play_tag(\"a tag\")", "color": "play_color()",
    "split_type": "play_color() == MPI_UNDEFINED ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED",
    "lock": "play_int(\"a lock\") ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED", "assert": "play_assert()",
    "long": "play_long(\"a number\")", "int": "play_int(\"a number\")",
}
TYPES = {"comm": "MPI_Comm", "comm_pointer": "MPI_Comm *", "new_comm": "MPI_Comm *", "win": "MPI_Win", "win_pointer": "MPI_Win *",
         "new_win": "MPI_Win *", "request_pointer": "MPI_Request *", "new_request": "MPI_Request *",
         "message_pointer": "MPI_Message *", "new_message": "MPI_Message *", "group": "MPI_Group", "op": "MPI_Op",
         "type": "MPI_Datatype", "long": "MPI_Aint"}


def generate(functions):
    played = [f for f in functions if replay.is_generated(f)]
    return (cfile.header("actions of one MPI function each") + '#include "tools/pfreplay/play_own.h"\n\n'
            + "/* The compiler takes the constant for an array that is too short. */\nstatic int *volatile unweighted = MPI_UNWEIGHTED;\n\n"
            + "\n".join(action(f) for f in played)
            + "\nconst struct play_action play_calls[] = {\n"
            + "".join(f'    {{"{f.name}", play_{f.stem}}},\n' for f in played) + "    {0, 0}};\n")


def buffer(p):
    return "play.from->memory[0]" if p.ctype.startswith("const") else "play.from->memory[1]"


def action(f):
    lines, arguments, ends = [], [], []
    count = "0"
    for p in f.params:
        code = replay.code(f, p)
        argument = p.name
        if code == "place":
            lines.append(f"void *{p.name} = play_place({buffer(p)});")
        elif p.kind == "BUFFER":
            argument = buffer(p)
        elif p.kind == "INFO":
            argument = "MPI_INFO_NULL"
        elif p.kind == "STATUS":
            argument = "MPI_STATUSES_IGNORE" if p.is_array else "MPI_STATUS_IGNORE"
        elif p.kind == "WEIGHTS":
            argument = "unweighted"
        elif p.kind == "BASEPTR":
            lines.append(f"void *{p.name};")
            argument = f"&{p.name}"
        elif p.kind == "DISPL":
            argument = f"play_zeros({count})"
        elif p.kind == "AINT" and p.is_array:
            argument = f"play_zero_aints({count})"
        elif code == "ints":
            count = f"n_{p.name}"
            lines += [f'int {count} = play_count("a number of numbers");', f'int *{p.name} = play_ints({count}, "a number");']
        elif code == "types":
            lines += [f"MPI_Datatype *{p.name} = play_types({count});"]
            ends.append(f"free({p.name});")
        elif not code:
            lines.append(f"int {p.name} = 0;")
            argument = f"&{p.name}"
        else:
            lines.append(f"{TYPES.get(code, 'int')} {p.name} = {READ[code]};".replace("* ", "*"))
        if code == "group":
            ends.append(f"MPI_Group_free(&{p.name});")
        arguments.append(argument)
    lines.append(f"play_check({f.name}({', '.join(arguments)}));")
    return (f"static void play_{f.stem}(void)\n{{\n"
            + "".join(cfile.wrap("    " + line, "        ") + "\n" for line in lines + ends) + "}\n")
