#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that each check of scripts/check-* passes a good tree and objects to a bad one, naming the file and the line."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
GOOD = {
    "base/log.h": SPDX + "#include <stdio.h>\n",
    "base/README.md": "# base\nThe lowest layer.\n",
    "lowlevel/README.md": "# lowlevel\nBelow MPI.\n",
    "lowlevel/engine.c": SPDX + "/* The engine. */\n" '#include "base/log.h"\n#include "own.h"\n\nint pf_engine(void)\n{\n    return pf_own(0);\n}\n',
    "lowlevel/own.h": SPDX + "static inline int pf_own(const int *p)\n{\n    return p ? *p : 1;\n}\n",
    "adapters/README.md": "# adapters\nMPI implementations.\n",
    "adapters/adapter.h": SPDX,
    "adapters/smpi/smpi.h": SPDX + '#include "lowlevel/own.h"\n#include "pf_fn.h"\n',
    "middleware/README.md": "# middleware\nHandles.\n",
    "middleware/call.c": SPDX + "/* Calls. */\n" '#include "adapters/adapter.h"\n/* __thread would be wrong here. */\n',
    "middleware/include/parfocal.h": SPDX + "#include <stddef.h>\nstatic inline size_t pf_size(void)\n{\n    return 0;\n}\n",
}


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="pf-style-")
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("check-sources.py", "check-layout.sh", "check-tidy.py"):
            self.copy("scripts/" + name)
        self.copy(".clang-format")
        self.copy(".clang-tidy")
        self.write("scripts/README.md", "# scripts\nThe checks.\n")
        for name, text in GOOD.items():
            self.write(name, text)

    def copy(self, name):
        os.makedirs(os.path.join(self.root, os.path.dirname(name)), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), os.path.join(self.root, name))

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def run_check(self, script, *arguments):
        done = subprocess.run([os.path.join(self.root, "scripts", script), *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def assert_good(self, script, *arguments):
        status, text = self.run_check(script, *arguments)
        if status == 77:
            self.skipTest(text)
        self.assertEqual((status, ""), (0, text if script == "check-sources.py" else ""), text)

    def assert_bad(self, expected, script, *arguments):
        status, text = self.run_check(script, *arguments)
        self.assertEqual(status, 1, text)
        self.assertIn(expected, text)
        return text

    def objection(self, rule, expected):
        """Exactly one objection, by this rule and with this text."""
        text = self.assert_bad(expected, "check-sources.py", rule)
        self.assertEqual(len(text.splitlines()), 1, text)
        status, all_rules = self.run_check("check-sources.py")
        self.assertEqual(status, 1)
        self.assertIn(text, all_rules)


class Sources(CheckTest):
    def test_good(self):
        self.assert_good("check-sources.py")

    def test_no_such_rule(self):
        self.assertEqual(self.run_check("check-sources.py", "spelling")[0], 2)

    def test_empty_tree(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(self.run_check("check-sources.py", "--root", empty)[0], 2)

    def test_spdx(self):
        self.write("base/log.c", "\n\n\n" + SPDX + "int x;\n")
        self.objection("spdx", "base/log.c:1: spdx: no SPDX")

    def test_spdx_of_scripts(self):
        self.write("scripts/run.sh", "#!/bin/sh\ntrue\n")
        self.objection("spdx", "scripts/run.sh:1: ")

    def test_spdx_of_meson(self):
        self.write("base/meson.build", "# base\n")
        self.objection("spdx", "base/meson.build:1: ")

    def test_length(self):
        self.write("base/log.c", SPDX + "\n" * 1000)
        self.objection("length", "base/log.c:1001: length: 1001 lines")

    def test_length_at_the_limit(self):
        self.write("base/log.c", SPDX + "\n" * 999)
        self.assert_good("check-sources.py", "length")

    def test_no_readme(self):
        os.unlink(os.path.join(self.root, "lowlevel/README.md"))
        self.objection("readme", "lowlevel:1: readme: no README.md")

    def test_long_readme(self):
        self.write("base/README.md", "# base\n" * 31)
        self.objection("readme", "base/README.md:1: ")

    def test_empty_readme(self):
        self.write("base/README.md", "# base\n")
        self.objection("readme", "base/README.md:1: ")

    def test_opening(self):
        self.write("base/log.c", SPDX + "int x; /* late */\n")
        self.objection("opening", "base/log.c:2: opening: ")

    def test_thread(self):
        for word in ("__thread", "_Thread_local", "thread_local"):
            self.write("base/log.c", SPDX + f"/* a\n b */ static {word} int x;\n")
            self.objection("threads", "base/log.c:3: threads: ")

    def test_memory(self):
        self.write("base/log.c", SPDX + "int f(void)\n{\n    char *a = malloc(1);\n    if (!a)\n        return 0;\n    return *a;\n}\n"
                                 "int g(void)\n{\n    char *a = calloc(1, 1);\n    *a = 1;\n    return *a;\n}\n")
        self.objection("memory", "base/log.c:11: memory: ")

    def test_include_upwards(self):
        self.write("lowlevel/engine.c", SPDX + '#include "base/log.h"\n#  include "middleware/rank.h"\n')
        self.objection("includes", "lowlevel/engine.c:3: includes: lowlevel/ includes middleware/rank.h, which stands above")

    def test_include_upwards_by_a_relative_path(self):
        self.write("base/log.c", SPDX + '#include "../lowlevel/own.h"\n')
        self.objection("includes", "base/log.c:2: includes: base/ includes lowlevel/own.h")

    def test_include_upwards_in_angle_brackets(self):
        self.write("base/log.c", SPDX + "#include <tools/pfrun.h>\n")
        self.objection("includes", "base/log.c:2: includes: base/ includes tools/pfrun.h")

    def test_include_of_one_adapter(self):
        self.write("middleware/call.c", SPDX + '#include "adapters/smpi/smpi.h"\n')
        self.objection("includes", "middleware/call.c:2: includes: middleware/ includes adapters/smpi/smpi.h; of the adapters only")

    def test_include_of_a_sibling(self):
        self.write("adapters/analytic/rank.c", SPDX + '#include "adapters/smpi/smpi.h"\n')
        self.objection("includes", "adapters/analytic/rank.c:2: includes: adapters/analytic includes adapters/smpi/smpi.h of another adapter")

    def test_include_of_a_folder_above(self):
        self.write("adapters/analytic/cost/cost.c", SPDX + '#include "adapters/analytic/engine/engine.h"\n')
        self.objection("includes", "adapters/analytic/cost/cost.c:2: includes: adapters/analytic/cost includes adapters/analytic/engine/engine.h, which")

    def test_include_of_a_sibling_by_a_relative_path(self):
        self.write("adapters/analytic/rank.c", SPDX + '#include "../smpi/smpi.h"\n')
        self.objection("includes", "adapters/analytic/rank.c:2: includes: adapters/analytic includes adapters/smpi/smpi.h of")

    def test_include_of_what_adapters_share(self):
        self.write("adapters/local/types.h", SPDX)
        self.write("adapters/adapter.c", SPDX + '#include "adapters/smpi/smpi.h"\n')
        self.write("adapters/smpi/smpi.c", SPDX + '#include "adapters/adapter.h"\n#include "adapters/local/types.h"\n#include "adapters/smpi/smpi.h"\n')
        self.assert_good("check-sources.py", "includes")
        self.write("adapters/local/types.h", SPDX + '#include "adapters/smpi/smpi.h"\n')
        self.objection("includes", "adapters/local/types.h:2: includes: adapters/local includes adapters/smpi/smpi.h of another")

    def test_name_of_an_implementation(self):
        self.write("middleware/call.c", SPDX + "/* PF_IMPL_SMPI */\nint pf_all[PF_IMPL_COUNT];\nint pf_one = PF_IMPL_SMPI;\n")
        self.objection("capabilities", "middleware/call.c:4: capabilities: PF_IMPL_SMPI: ask for a capability")
        self.write("middleware/call.c", SPDX)
        self.write("middleware/process/job.c", SPDX + "int pf_one = PF_IMPL_SMPI;\n")
        self.assert_good("check-sources.py", "capabilities")

    def test_private(self):
        self.write("lowlevel/engine.c", SPDX + 'extern double now __asm__("_ZN7simgrid6kernel10EngineImpl4now_E");\n')
        self.objection("private", "lowlevel/engine.c:2: private: _ZN7simgrid6kernel10EngineImpl4now_E belongs to")
        self.write("lowlevel/engine.c", SPDX + "/* namespace simgrid */\nnamespace simgrid::smpi\n{\n}\n")
        self.objection("private", "lowlevel/engine.c:3: private: namespace simgrid::smpi belongs to")
        self.write("lowlevel/engine.c", SPDX)
        self.write("adapters/openmpi/parts.c", SPDX + 'static const char *name = "libmpi.so.40";\n')
        self.objection("private", 'adapters/openmpi/parts.c:2: private: "libmpi.so belongs to')
        self.write("adapters/openmpi/parts.c", SPDX + '#include "ompi_config.h"\n')
        self.write("lowlevel/simgrid/simgrid-1.h", SPDX + '#define A "_ZN7simgrid1AE"\n')
        self.write("adapters/openmpi/private/openmpi-1.h", SPDX + '#define A "ompi_a"\n')
        self.assert_good("check-sources.py", "private")

    def test_include_of_a_test(self):
        self.write("base/log.c", SPDX + '#include "tests/check.h"\n')
        self.objection("includes", "base/log.c:2: includes: base/ includes tests/check.h, which is no part")

    def test_paths(self):
        for path in ("/" "home/somebody/parfocal", "/" "work/base", "/" "tmp/openmpi/mpi.h"):
            self.write("base/log.c", SPDX + f'const char *where = "{path}";\n')
            self.objection("paths", "base/log.c:2: paths: absolute path ")

    def test_paths_of_the_system(self):
        self.write("base/log.c", SPDX + '/* and/or a / b */\nconst char *p[] = {"/usr/lib", "/proc/self/maps", "/tmp/pf-XXXXXX"};\n')
        self.assert_good("check-sources.py", "paths")

    def test_header_that_needs_another(self):
        self.write("middleware/include/parfocal.h", SPDX + "static inline size_t pf_size(void)\n{\n    return 0;\n}\n")
        self.assert_bad("parfocal.h:1: headers: does not compile alone with gcc", "check-sources.py", "headers")

    def test_header_of_c_only(self):
        self.write("middleware/include/parfocal.h", SPDX + "static inline int pf_model(int class)\n{\n    return class;\n}\n")
        text = self.assert_bad("headers: does not compile alone with g++", "check-sources.py", "headers")
        self.assertNotIn("gcc", text)


class Layout(CheckTest):
    def test_good_and_bad(self):
        self.assert_good("check-layout.sh")
        bad = SPDX + "int  pf_engine(void) { return 1; }\n"
        self.write("lowlevel/engine.c", bad)
        self.assert_bad("lowlevel/engine.c:2", "check-layout.sh")
        self.assertEqual(self.run_check("check-layout.sh", "--fix")[0], 0)
        self.assert_good("check-layout.sh")


class Tidy(CheckTest):
    def setUp(self):
        super().setUp()
        self.build = os.path.join(self.root, "build")
        command = {"directory": self.root, "file": "lowlevel/engine.c",
                   "command": "cc '-DTEXT=\"a b\"' -I. -Ilowlevel -c lowlevel/engine.c -o build/engine.o"}
        self.write("build/compile_commands.json", json.dumps([command]))

    def tidy(self, *arguments):
        status, text = self.run_check("check-tidy.py", "--build", self.build, *arguments)
        if status == 77:
            self.skipTest(text)
        return status, text

    def test_good_and_bad(self):
        self.assertEqual(self.tidy(), (0, "clang-tidy: 1 files, 0 with warnings\n"))
        self.write("lowlevel/own.h", GOOD["lowlevel/own.h"].replace("*p : 1", "1 : *p"))
        status, text = self.tidy()  # the file itself is the same, but what it includes is not
        self.assertEqual(status, 1)
        self.assertIn("lowlevel/own.h:4:20: error: ", text)
        self.assertEqual(self.tidy()[0], 1, "a failure was remembered as passed")

    def test_the_configuration_counts(self):
        self.write("lowlevel/engine.c", SPDX + "int pf_engine(int i)\n{\n    if (i)\n        return 1;\n    else\n        return 1;\n}\n")
        self.assertEqual(self.tidy()[0], 0)
        self.write(".clang-tidy", "Checks: '-*,bugprone-branch-clone'\nWarningsAsErrors: '*'\n")
        self.assertEqual(self.tidy()[0], 1)

    def test_nothing_to_check(self):
        self.assertEqual(self.tidy("middleware")[0], 2)


class Cycles(CheckTest):
    """Of functions that call each other; compiled for each test."""

    def links(self, uses):
        """{file: files whose function it calls} as a build. Returns what the check says."""
        commands, build = [], os.path.join(self.root, "build")
        for name, others in uses.items():
            own, *called = ["pf_" + os.path.basename(f)[:-2] for f in [name, *others]]
            self.write(name, SPDX + "".join(f"void {f}(void);\n" for f in [own, *called]) +
                       f"void {own}(void)\n{{\n" + "".join(f"    {f}();\n" for f in called) + "}\n")
            output = name.replace("/", ".") + ".o"
            os.makedirs(build, exist_ok=True)
            subprocess.run(["cc", "-c", os.path.join(self.root, name), "-o", os.path.join(build, output)], check=True)
            commands.append({"directory": build, "file": "../" + name, "output": output})
        self.write("build/compile_commands.json", json.dumps(commands))
        done = subprocess.run([sys.executable, os.path.join(ROOT, "tests/style/check_cycles.py"), "--root", self.root, build],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_good(self):
        status, text = self.links({"base/a.c": [], "lowlevel/b.c": ["base/a.c"], "middleware/p2p/c.c": ["middleware/core/d.c", "base/a.c"],
                                   "middleware/core/d.c": ["lowlevel/b.c"]})
        self.assertEqual(status, 0, text)

    def test_cycle(self):
        status, text = self.links({"base/a.c": ["base/b.c"], "base/b.c": ["base/c.c"], "base/c.c": ["base/a.c"], "base/d.c": ["base/a.c"]})
        self.assertEqual(status, 1)
        self.assertIn("base: a cycle of 3 files, at most 1\n  a.c -> b.c\n", text)

    def test_cycle_of_two_folders(self):
        status, text = self.links({"base/a.c": ["lowlevel/b.c"], "lowlevel/b.c": ["base/a.c"]})
        self.assertEqual(status, 1)
        self.assertIn("several top folders: a cycle of 2 files", text)

    def test_room_that_nobody_placed(self):
        status, text = self.links({"middleware/cellar/a.c": []})
        self.assertEqual(status, 1)
        self.assertIn("middleware/cellar has no place", text)

    def test_upwards(self):
        status, text = self.links({"middleware/p2p/a.c": [], "middleware/core/b.c": ["middleware/p2p/a.c"]})
        self.assertEqual(status, 1)
        self.assertIn("core points upwards to p2p: middleware/core/b.c -> middleware/p2p/a.c: pf_a\n", text)

    def test_include_upwards(self):
        self.write("middleware/core/c.h", SPDX + '#include "middleware/p2p/a.h"\n')
        status, text = self.links({"middleware/core/b.c": []})
        self.assertEqual(status, 1)
        self.assertIn("core points upwards to p2p: middleware/core/c.h -> middleware/p2p/a.h: an include\n", text)

    def test_nothing_built(self):
        self.write("build/compile_commands.json", "[]")
        self.assertEqual(self.links({})[0], 1)


class TextTest(unittest.TestCase):
    """Words of pages and messages, and subjects of commits, in a repository of their own."""

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="pf-text-")
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("tests/style/check_words.py", "tests/style/words.tsv", "scripts/check-commits.py"):
            os.makedirs(os.path.join(self.root, os.path.dirname(name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(self.root, name))

    def run_script(self, name, *arguments):
        done = subprocess.run([sys.executable, os.path.join(self.root, name), *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def words(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.run_script("tests/style/check_words.py")[1]

    def test_words(self):
        os.mkdir(os.path.join(self.root, "base"))
        self.assertIn("page.md:2: 'cables'", self.words("page.md", "# Page\nTwo cables.\n"))
        self.assertNotIn("page.md", self.words("page.md", "# Page\n`two cables`\n```\ncable\n```\n"))
        self.assertIn("base/a.c:1: 'nobody'", self.words("base/a.c", 'pf_die("%s: no"\n"body has come", name());\n'))
        self.assertIn("base/a.c:1: 'is told'", self.words("base/a.c", 'pf_warn("the rank is told");\n'))
        self.assertIn("base/a.c:2: 'is told'", self.words("base/a.c", 'pf_warn("the link is down");\n/* The rank is\n * told. */\n'))
        self.assertIn("base/a.c:1: 'who'", self.words("base/a.c", "int a; // who waits\n"))
        self.assertNotIn("base/a.c", self.words("base/a.c", 'int nobody; /* `told` */\nchar *text = "/* who */";\n'))

    def commit(self, subject):
        for arguments in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", subject]):
            subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True)

    def test_commits(self):
        self.assertEqual((0, ""), self.run_script("scripts/check-commits.py", "--since", "HEAD~1"))  # no history
        self.commit("Begin")
        for subject, why in (("Keep the rate of a link", ""), ("Say " + "x" * 70, "74 characters"), ("add a rate", "no capital"),
                             ("Added a rate", "no imperative"), ("Adding a rate", "no imperative"), ("Add a rate.", "full stop")):
            self.commit(subject)
            status, text = self.run_script("scripts/check-commits.py", "--since", "HEAD~1")
            self.assertEqual(bool(why), status, subject)
            self.assertIn(why, text.replace("is not a capital", "no capital"))
            message = os.path.join(self.root, "message")
            with open(message, "w", encoding="utf-8") as file:
                file.write(f"# a comment\n{subject}\n\nA body.\n")
            self.assertEqual(bool(why), self.run_script("scripts/check-commits.py", "--message", message)[0])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--buffer", "--verbose", *sys.argv[1:]])
