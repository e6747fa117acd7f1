# SPDX-License-Identifier: BSD-3-Clause
"""fortran.c: the Fortran entry points, mpi_send_ and pmpi_send_; fortran_<group>.c: those of one group of the table.

Each converts its arguments, calls the function of C, and converts back what that changed. A kind of parameters is one
function below that adds its part to a Call.
"""

import cfile
import fortran

CALLBACKS = {
    "MPI_User_function *": "OP", "MPI_Comm_copy_attr_function *": "COMM_COPY", "MPI_Type_copy_attr_function *": "TYPE_COPY",
    "MPI_Win_copy_attr_function *": "WIN_COPY", "MPI_Comm_delete_attr_function *": "COMM_DELETE",
    "MPI_Type_delete_attr_function *": "TYPE_DELETE", "MPI_Win_delete_attr_function *": "WIN_DELETE",
    "MPI_Copy_function *": "MPI1_COPY", "MPI_Delete_function *": "MPI1_DELETE",
    "MPI_Comm_errhandler_function *": "COMM_ERROR", "MPI_Handler_function *": "COMM_ERROR",
    "MPI_Win_errhandler_function *": "WIN_ERROR", "MPI_File_errhandler_function *": "FILE_ERROR",
    "MPI_Grequest_query_function *": "QUERY", "MPI_Grequest_free_function *": "FREE",
    "MPI_Grequest_cancel_function *": "CANCEL", "MPI_Datarep_conversion_function *": "CONVERSION",
    "MPI_Datarep_extent_function *": "EXTENT",
}
# How many handles an array has whose length is said by the communicator.
COUNTS = {"Neighbor": "pf_fortran_neighbors({comm}, {out})", "": "pf_fortran_peers({comm})"}
# Strings that come back without a length of their own in the table.
ROOM = {("Info_get", "value"): "*valuelen > 0 ? *valuelen + 1 : 1", ("Info_get_nthkey", "key"): "MPI_MAX_INFO_KEY",
        ("File_get_view", "datarep"): "MPI_MAX_DATAREP_STRING"}
# They look at no rank, so no one would take the call site.
SITELESS = ("Initialized", "Finalized", "Get_version", "Get_library_version")


class Call:
    """The parts of one entry point, in the order in which they run."""

    def __init__(self, function):
        self.function = function
        self.declared, self.lengths, self.before, self.arguments, self.after, self.last = [], [], [], [], [], []

    def text(self):
        f = self.function
        name = f.name.lower()
        declared = self.declared + (["MPI_Fint *ierror"] if fortran.has_ierror(f) else []) + self.lengths
        result = f.ret if not fortran.is_subroutine(f) else "void"
        arguments = ", ".join(self.arguments)
        if not fortran.is_subroutine(f):
            body = [f"return pf_entry_{f.stem}({arguments});"]
        else:
            site = [] if f.stem in SITELESS else ["PF_F_SITE();"]
            body = self.before + site + [f"int code = pf_entry_{f.stem}({arguments});"] + self.after
            body += self.last + ["pf_f_ierror(ierror, code);" if fortran.has_ierror(f) else "(void)code;"]
        names = [name] + ([name + "_cptr"] if f.stem in fortran.CPTR else [])
        return "".join(self.entry(n, result, declared, body) for n in names)

    @staticmethod
    def entry(name, result, declared, body):
        prototype = f"{result} p{name}_({', '.join(declared) or 'void'})"
        return (cfile.wrap(prototype + ";") + "\n" + cfile.wrap(prototype) + "\n{\n"
                + "".join(cfile.wrap("    " + line, "        ") + "\n" for line in body) + "}\n"
                + f'__typeof__(p{name}_) {name}_ __attribute__((weak, alias("p{name}_")));\n\n')


def handle(call, p):
    stem = fortran.STEMS[p.kind].lower()
    if p.is_array:
        return handles(call, p, stem)
    if not p.ctype.endswith("*"):
        call.declared.append(f"const MPI_Fint *{p.name}")
        call.arguments.append(f"pf_f_{stem}(*{p.name})")
        return None
    ctype = p.ctype.rstrip("* ")
    value = "0" if p.dir == "out" else f"pf_f_{stem}(*{p.name})"
    call.declared.append(f"{'const ' if p.dir == 'in' else ''}MPI_Fint *{p.name}")
    call.before.append(f"{ctype} c_{p.name} = {value};")
    call.arguments.append(f"&c_{p.name}")
    if p.dir == "out":
        call.after.append(f"if (code == MPI_SUCCESS && c_{p.name})")
        call.after.append(f"    *{p.name} = pf_f_from_{stem}(c_{p.name});")
    elif p.dir == "inout":
        call.after.append(f"*{p.name} = pf_f_from_{stem}(c_{p.name});")
    return None


def handles(call, p, stem):
    """An array of handles, converted on the stack when it is short."""
    f = call.function
    count = f"*{p.length}"
    if p.length == "*":
        pattern = next(COUNTS[k] for k in COUNTS if k.lower() in f.stem.lower())
        count = pattern.format(comm="pf_f_comm(*comm)", out=int(p.name.startswith("send")))
        if p.name == "sendtypes" and f.group != "neighbor":
            count = f"pf_f_buffer(sendbuf) == MPI_IN_PLACE ? 0 : {count}"
    call.declared.append(f"{'const ' if p.dir == 'in' else ''}MPI_Fint {p.name}[]")
    call.before.append(f"struct pf_f_array a_{p.name};")
    call.before.append(f"pf_f_array_open(&a_{p.name}, {count});")
    if p.dir != "out":
        call.before.append(f"for (int i = 0; i < a_{p.name}.count; i++)")
        call.before.append(f"    a_{p.name}.all[i] = pf_f_{stem}({p.name}[i]);")
    call.arguments.append(f"({p.ctype[:-2].replace('const ', '').strip()} *)a_{p.name}.all")
    if p.dir == "inout":  # a request stays what it is until it is null
        call.after.append(f"for (int i = 0; i < a_{p.name}.count; i++)")
        call.after.append(f"    if (a_{p.name}.all[i] == (void *)MPI_REQUEST_NULL)")
        call.after.append(f"        {p.name}[i] = pf_f_from_{stem}(MPI_REQUEST_NULL);")
    elif p.dir == "out":
        call.before.append(f"for (int i = 0; i < a_{p.name}.count; i++)")
        call.before.append(f"    a_{p.name}.all[i] = NULL;")
        call.after.append(f"for (int i = 0; code == MPI_SUCCESS && i < a_{p.name}.count; i++)")
        call.after.append(f"    if (a_{p.name}.all[i])")
        call.after.append(f"        {p.name}[i] = pf_f_from_{stem}(a_{p.name}.all[i]);")
    call.last.append(f"pf_f_array_close(&a_{p.name});")


def buffer(call, p):
    call.declared.append(f"{'const ' if p.ctype.startswith('const') else ''}void *{p.name}")
    call.arguments.append(f"pf_f_buffer({p.name})")


def status(call, p):
    const = "const " if p.dir == "in" else ""
    call.declared.append(f"{const}MPI_Fint *{p.name}")
    call.arguments.append(f"pf_f_status({p.name})")


def logical(call, p):
    if p.is_array:
        return number(call, p)
    if p.ctype == "int":
        call.declared.append(f"const MPI_Fint *{p.name}")
        call.arguments.append(f"*{p.name} != 0")
        return None
    call.declared.append(f"MPI_Fint *{p.name}")
    call.before.append(f"int c_{p.name} = *{p.name};")
    call.arguments.append(f"&c_{p.name}")
    call.after.append("if (code == MPI_SUCCESS)")
    call.after.append(f"    *{p.name} = c_{p.name} != 0;")
    return None


def index(call, p):
    """Places in an array of requests: from 1 on."""
    number(call, p)
    if p.is_array:
        done = "code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS"
        call.after.append(f"for (int i = 0; ({done}) && i < *outcount; i++)")
        call.after.append(f"    {p.name}[i]++;")
    else:
        call.after.append(f"if (code == MPI_SUCCESS && *{p.name} >= 0)")
        call.after.append(f"    ++*{p.name};")


def number(call, p):
    """What both languages keep in the same bytes."""
    f = call.function
    if fortran.is_short(f, p):
        return short(call, p)
    base = p.ctype.replace("const ", "").replace("[]", "").replace("[][3]", "").rstrip("* ")
    base = "MPI_Fint" if base == "int" else base
    const = "const " if p.dir == "in" else ""
    if p.ctype.endswith("[][3]"):
        call.declared.append(f"MPI_Fint {p.name}[][3]")
        call.arguments.append(p.name)
    elif p.is_array:
        call.declared.append(f"{const}{base} {p.name}[]")
        call.arguments.append(p.name)
    elif p.ctype.endswith("*"):
        call.declared.append(f"{const}{base} *{p.name}")
        call.arguments.append(p.name)
    else:
        call.declared.append(f"const {base} *{p.name}")
        call.arguments.append(f"*{p.name}")
    return None


def short(call, p):
    """An address of MPI-1, in an INTEGER: its lower half comes back, so that differences are right."""
    if p.is_array:
        call.declared.append(f"const MPI_Fint {p.name}[]")
        call.before.append(f"MPI_Aint *c_{p.name} = pf_f_widen({p.name}, *{p.length});")
        call.arguments.append(f"c_{p.name}")
        call.last.append(f"free(c_{p.name});")
    elif p.dir == "out":
        call.declared.append(f"MPI_Fint *{p.name}")
        call.before.append(f"MPI_Aint c_{p.name} = 0;")
        call.arguments.append(f"&c_{p.name}")
        call.after.append("if (code == MPI_SUCCESS)")
        call.after.append(f"    *{p.name} = (MPI_Fint)c_{p.name};")
    else:
        call.declared.append(f"const MPI_Fint *{p.name}")
        call.arguments.append(f"*{p.name}")


def string(call, p):
    f = call.function
    call.lengths.append(f"pf_f_length {p.name}_length")
    if p.dir == "in":
        call.declared.append(f"const char *{p.name}")
        leading = "true" if f.group == "info" else "false"
        call.before.append(f"char *c_{p.name} = pf_f_string({p.name}, {p.name}_length, {leading});")
        call.arguments.append(f"c_{p.name}")
    else:
        room = ROOM.get((f.stem, p.name), p.length)
        call.declared.append(f"char *{p.name}")
        call.before.append(f"char *c_{p.name} = pf_f_room({room});")
        call.arguments.append(f"c_{p.name}")
        found = " && c_flag" if f.stem == "Info_get" else ""
        call.after.append(f"if (code == MPI_SUCCESS{found})")
        call.after.append(f"    pf_f_give({p.name}, {p.name}_length, c_{p.name});")
    call.last.append(f"free(c_{p.name});")


def weights(call, p):
    call.declared.append(f"{'const ' if p.dir == 'in' else ''}MPI_Fint *{p.name}")
    call.arguments.append(f"pf_f_weights({p.name})")


def callback(call, p):
    kind = CALLBACKS[p.ctype]
    call.declared.append(f"pf_fortran_procedure *{p.name}")
    call.arguments.append(f"({p.ctype})pf_f_procedure(PF_FORTRAN_{kind}, {p.name})")


def attribute(call, p):
    ctype = "MPI_Fint" if fortran.is_short(call.function, p) else "MPI_Aint"
    if call.function.stem == "Grequest_start":  # as elsewhere: the callbacks see the caller's variable
        return base_pointer(call, p)
    call.before.append("pf_fortran_attribute(1);")
    call.after.append("pf_fortran_attribute(0);")
    if p.dir == "in":
        call.declared.append(f"const {ctype} *{p.name}")
        call.arguments.append(f"(void *)(MPI_Aint)*{p.name}")
        return None
    keyval = next(q.name for q in call.function.params if q.kind == "KEYVAL")
    win = "true" if call.function.stem.startswith("Win") else "false"
    call.declared.append(f"{ctype} *{p.name}")
    call.before.append(f"void *c_{p.name} = NULL;")
    call.arguments.append(f"&c_{p.name}")
    call.after.append("if (code == MPI_SUCCESS && c_flag)")
    call.after.append(f"    *{p.name} = ({ctype})pf_f_attribute(*{keyval}, c_{p.name}, {win});")
    return None


def base_pointer(call, p):
    call.declared.append(f"void *{p.name}")
    call.arguments.append(p.name)


KINDS = {"BUFFER": buffer, "STATUS": status, "LOGICAL": logical, "INDEX": index, "STRING": string, "WEIGHTS": weights,
         "FUNCTION": callback, "ATTRIBUTE": attribute, "EXTRA_STATE": attribute, "BASEPTR": base_pointer,
         **{kind: handle for kind in fortran.STEMS}}


def entry(function):
    call = Call(function)
    for p in function.params:
        if p.kind in ("ARGC", "ARGV"):
            call.arguments.append("NULL")
        elif p.kind != "VARARGS":
            KINDS.get(p.kind, number)(call, p)
    return call.text()


def generate(functions):
    members = [f for f in fortran.functions(functions) if f.stem not in fortran.BY_HAND]
    return (cfile.header("Fortran entry points")
            + '#include "middleware/fortran/convert.h"\n\n'
            + "".join(f"__typeof__(pf_{f.name}) pf_entry_{f.stem};\n" for f in members) + "\n" + "".join(entry(f) for f in members))
