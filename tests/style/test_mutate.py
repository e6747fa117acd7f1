#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows what scripts/mutate.py changes in a C file, and that it says which mutants a test kills and which survive."""
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("mutate", os.path.join(ROOT, "scripts", "mutate.py"))
mutate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutate)

TRICKY = r'''/* if (a < b) return 1; */
#include <stdio.h> // a < b
#define LESS(a, b) ((a) < (b) ? \
                    1 : 0)
static int table[] = {1, 2 < 3};
struct pair {
    int a, b;
};

int first(struct pair *p, char c)
{
    int local = 7;
    const char *text = "if (x) y = 1; \" < ";
    for (int i = 0; i < p->a; i++)
        puts(text);
    if (c == '<' && !p->b)
        p->b += local;
    else
        p->a--;
    *(&p->a) = -p->b;
    return p->a > 2;
}
'''
CODE = '''int guarded(int a, int b)
{
    if (a < b)
        return b;
    return a;
}

int alone(int a)
{
    a = a + 3;
    return a;
}
'''
TEST = '''int guarded(int a, int b);
int main(void)
{
    return guarded(1, 2) == 2 && guarded(4, 3) == 4 && guarded(5, 5) == 5 ? 0 : 1;
}
'''
FILES = {
    "base/code.c": CODE,
    "tests/test.c": TEST,
    "tests/by-folder.tsv": "base\tguards\n",
    "meson.build": "project('tiny', 'c')\ntest('guards', executable('guards', 'base/code.c', 'tests/test.c'))\n",
    "meson_options.txt": "option('tests', type: 'boolean', value: true)\n",
}


class Mutants(unittest.TestCase):
    def all(self, text, function=None):
        return [(m.line, m.function, m.what) for m in mutate.Source("x.c", text).mutants(function)]

    def test_all_kinds_and_nothing_else(self):
        self.assertEqual([(line, what) for line, _, what in self.all(TRICKY)], [
            (12, "7 becomes 8"),
            (14, "0 becomes 1"), (14, "< becomes <="),
            (15, "call dropped: puts(text);"),
            (16, "if negated: (c == '<' && !p->b)"), (16, "== becomes !="), (16, "&& becomes ||"),
            (17, "assignment dropped: p->b += local;"), (17, "+= becomes -="),
            (19, "step dropped: p->a--;"),
            (20, "assignment dropped: *(&p->a) = -p->b;"),
            (21, "> becomes >="), (21, "2 becomes 3")])

    def test_one_function(self):
        self.assertEqual({function for _, function, _ in self.all(CODE, "alone")}, {"alone"})
        self.assertEqual(self.all(CODE, "nobody"), [])

    def test_each_changes_its_place_alone(self):
        for m in mutate.Source("x.c", TRICKY).mutants():
            changed = TRICKY[:m.start] + m.text + TRICKY[m.end:]
            self.assertNotEqual(changed, TRICKY)
            self.assertEqual(len(changed.split("\n")), len(TRICKY.split("\n")))
            self.assertEqual([i for i, (a, b) in enumerate(zip(changed.split("\n"), TRICKY.split("\n")), 1) if a != b], [m.line])

    def test_all_of_our_sources_can_be_read(self):
        count = 0
        for room in mutate.ROOMS:
            for folder, _, files in os.walk(os.path.join(ROOT, room)):
                for name in files:
                    if name.endswith((".c", ".h")):
                        with open(os.path.join(folder, name), encoding="utf-8") as file:
                            source = mutate.Source(name, file.read())
                        brackets = [t for t in source.tokens if t.text in mutate.OPENING or t.text in mutate.CLOSING]
                        self.assertEqual(len(source.partner), len(brackets), name)
                        count += len(source.mutants())
        self.assertGreater(count, 10000)


class Runs(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="pf-mutate-")
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("mutate.py", "tests-for.py"):
            os.makedirs(os.path.join(self.root, "scripts"), exist_ok=True)
            shutil.copy(os.path.join(ROOT, "scripts", name), os.path.join(self.root, "scripts", name))
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name, text):
        os.makedirs(os.path.join(self.root, os.path.dirname(name)), exist_ok=True)
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def mutate(self, *arguments):
        done = subprocess.run([os.path.join(self.root, "scripts", "mutate.py"), *arguments], cwd=self.root, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=Nobody", "-c", "user.email=nobody@example.org", *arguments], cwd=self.root,
                       capture_output=True, check=True)

    def test_survivors_are_named(self):
        status, out, _ = self.mutate("base/code.c:alone")
        self.assertEqual(status, 1)
        self.assertIn("SURVIVED      base/code.c:10:5 alone(): assignment dropped: a = a + 3;\n", out)
        self.assertIn("no test guards base/code.c: 10\n3 mutants: 0 killed, 0 timed out, 0 did not build, 3 survived\n", out)
        with open(os.path.join(self.root, "base/code.c"), encoding="utf-8") as file:
            self.assertEqual(file.read(), CODE, "it has written into the tree itself")
        self.assertFalse(os.path.exists(os.path.join(self.root, "build")))

    def test_killed(self):
        # a <= b is the same as a < b here: what survives is to be judged.
        self.assertEqual(self.mutate("base/code.c:guarded")[1],
                         "killed        base/code.c:3:5 guarded(): if negated: (a < b)  [guards]\n"
                         "SURVIVED      base/code.c:3:11 guarded(): < becomes <=\n"
                         "no test guards base/code.c: 3\n"
                         "2 mutants: 1 killed, 0 timed out, 0 did not build, 1 survived\n")

    def test_changed_lines_only(self):
        self.git("init")
        self.git("add", ".")
        self.git("commit", "-m", "before")
        self.write("base/code.c", CODE.replace("    return b;", "    return b - 0;"))
        status, out, _ = self.mutate("--since", "HEAD")
        self.assertIn("SURVIVED      base/code.c:4:18 guarded(): - becomes +\n", out)
        self.assertEqual((status, out.splitlines()[-1]), (1, "2 mutants: 1 killed, 0 timed out, 0 did not build, 1 survived"))
        status, _, err = self.mutate("--since", "nosuch")
        self.assertEqual(status, 1)
        self.assertIn("nosuch", err)

    def test_endless_and_unbuildable(self):
        self.write("base/code.c", CODE.replace("    a = a + 3;", "    char b[1 - 1 + 1];\n    (void)b;").replace("    if (a", "    while (a == 77)\n        pause();\n    if (a")
                   .replace("int guarded", "#include <unistd.h>\nint guarded", 1))
        out = self.mutate("--patience", "2", "base/code.c")[1]
        self.assertIn("timed out     base/code.c:4:5 guarded(): while negated: (a == 77)  [guards]\n", out)
        self.assertIn("did not build base/code.c:13:18 alone(): + becomes -\n", out)

    def test_a_test_that_fails_anyway(self):
        self.write("tests/test.c", TEST.replace("? 0 : 1", "? 1 : 0"))
        status, _, err = self.mutate("base/code.c")
        self.assertEqual((status, err), (2, "mutate: without any mutant, this fails: guards\n"))

    def test_a_sample_is_the_same_each_time(self):
        first = self.mutate("base/code.c", "--list", "--count", "2", "--seed", "5")
        self.assertEqual(first, self.mutate("base/code.c", "--list", "--count", "2", "--seed", "5"))
        self.assertTrue(first[1].startswith("mutate: 2 of 5 mutants, --seed 5\n"), first)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--buffer", *sys.argv[1:]])
