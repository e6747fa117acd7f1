# SPDX-License-Identifier: BSD-3-Clause
"""Starts the ranks of a program under a real MPICH, by its protocol PMI 1: what its mpiexec does, which comes in another package than the library."""
import os
import selectors
import socket
import subprocess

FIXED = {"init": "response_to_init pmi_version=1 pmi_subversion=1 rc=0", "get_maxes": "maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
         "get_appnum": "appnum appnum=0", "get_my_kvsname": "my_kvsname kvsname=job", "put": "put_result rc=0 msg=success", "finalize": "finalize_ack"}


class Job:
    def __init__(self, ranks):
        self.ranks, self.values, self.waiting = ranks, {}, []

    def answer(self, words, sock):
        """Replies to one line of a rank."""
        command = words["cmd"]
        if command == "barrier_in":
            self.waiting.append(sock)
            if len(self.waiting) == self.ranks:
                for other in self.waiting:
                    other.sendall(b"cmd=barrier_out\n")
                self.waiting = []
            return
        if command == "put":
            self.values[words["key"]] = words["value"]
        reply = FIXED.get(command)
        if command == "get_universe_size":
            reply = f"universe_size size={self.ranks}"
        elif command == "get":
            value = self.values.get(words["key"])
            reply = f"get_result rc=0 msg=success value={value}" if value else "get_result rc=-1 msg=unknown value=unknown"
        sock.sendall(f"cmd={reply}\n".encode())

    def serve(self, socks):
        with selectors.DefaultSelector() as selector:
            for sock in socks:
                selector.register(sock, selectors.EVENT_READ, bytearray())
            while selector.get_map():
                for key, _ in selector.select():
                    data = key.fileobj.recv(65536)
                    if not data:
                        selector.unregister(key.fileobj)
                    key.data.extend(data)
                    while b"\n" in key.data:
                        line, _, rest = bytes(key.data).partition(b"\n")
                        key.data[:] = rest
                        self.answer(dict(word.split("=", 1) for word in line.decode().split()), key.fileobj)


def run(ranks, command, environment):
    """What all ranks have printed, or the error of the first that failed."""
    pairs = [socket.socketpair() for _ in range(ranks)]
    started = []
    for rank, (_, theirs) in enumerate(pairs):
        there = {**environment, "PMI_RANK": str(rank), "PMI_SIZE": str(ranks), "PMI_FD": str(theirs.fileno()), "MPIR_CVAR_NOLOCAL": "1"}
        started.append(subprocess.Popen(command, env=there, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        theirs.close()
    Job(ranks).serve([ours for ours, _ in pairs])
    said = [process.communicate()[0] for process in started]
    for ours, _ in pairs:
        ours.close()
    failed = [text for process, text in zip(started, said) if process.returncode]
    return ("", failed[0]) if failed else ("".join(said), "")


if __name__ == "__main__":
    import sys
    print(*run(int(sys.argv[1]), sys.argv[2:], dict(os.environ)))
