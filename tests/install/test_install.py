#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs Parfocal and uses it from there, with the build directory out of reach.

Usage: test_install.py BUILD. Its `meson install` with DESTDIR is examined; programs run from a second build, made in a
temporary folder for a prefix of its own, because installed files hold the prefix.
"""
import glob
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv.pop(1))
FETCHED = "adapters/openmpi/openmpi-*"
EXPECTED = ["bin/mpi/mpicc", "bin/mpi/mpiexec", "bin/pfcc", "bin/pfcxx", "bin/pfrun", "bin/pfinfo", "bin/pfcurve", "bin/pftune", "bin/pfnet", "libexec/parfocal/pfreplay", "libexec/parfocal/pfsample", "libexec/parfocal/pffit", "share/parfocal/pfsample/main.py", "share/parfocal/pffit/cells.c", "include/parfocal.h", "include/parfocal/mpi.h",
            "include/parfocal/mpi_proto.h", "include/parfocal/portals4.h", "include/parfocal/parfocal_portals.h",
            "include/parfocal/portals-test/support.h", "lib*/**/libpfportals_test.a", "lib*/**/mca_coll_portals4.so",
            "lib*/**/mca_osc_portals4.so", "lib*/**/libparfocal.so.0", "lib*/**/parfocal/libmpi_abi.so.0", "lib*/**/libportals.so.4",
            "lib*/**/pkgconfig/parfocal.pc", "lib*/**/pkgconfig/portals.pc", "share/man/man1/pfcc.1", "share/man/man1/pfrun.1",
            "share/man/man1/pfcurve.1", "share/man/man1/pftune.1", "share/man/man1/pfnet.1", "share/parfocal/pfnet/draw.py", "share/parfocal/machines/bxi.machine", "lib*/**/mca_mtl_portals4.so"]
PROGRAM = r"""
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pf_phase("sum");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d sum %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
"""
FORTRAN = """program app
use mpi
integer :: rank, total, code
call MPI_Init(code)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
print '(a,i0,a,i0)', 'rank ', rank, ' sum ', total
call MPI_Finalize(code)
end program
"""
RESULT = sorted(f"rank {rank} sum 6" for rank in range(4))


def run(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, **options)
    if done.returncode != status:
        raise AssertionError(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def environment():
    """Nothing in it may help to find a build or another installation."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PARFOCAL", "LD_", "PKG_CONFIG", "DESTDIR", "MESON", "CC", "CXX"))}


class Destdir(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="pf-destdir-")
        cls.addClassCleanup(shutil.rmtree, cls.place)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.place)
        prefix = run("meson", "introspect", BUILD, "--buildoptions")
        cls.prefix = next(o["value"] for o in json.loads(prefix) if o["name"] == "prefix")

    def files(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.place) for name in names]

    def test_everything_is_below_the_prefix(self):
        self.assertTrue(self.files())
        for path in self.files():
            self.assertTrue(path.startswith(self.place + self.prefix + "/"), path)

    def test_what_is_expected(self):
        for pattern in EXPECTED:
            self.assertTrue(glob.glob(os.path.join(self.place + self.prefix, pattern), recursive=True), pattern)

    def test_no_text_names_the_build(self):
        for path in self.files():
            with open(path, "rb") as f:
                data = f.read()
            if b"\0" not in data:
                for place in (BUILD, ROOT, self.place):
                    self.assertNotIn(place.encode(), data, f"{path} names {place}")

    def test_no_program_or_library_names_the_build(self):
        """Lines for a debugger, which a package takes away, may."""
        objects = glob.glob(f"{self.place}{self.prefix}/**/*.so*", recursive=True) + glob.glob(f"{self.place}{self.prefix}/bin/pf[ri]*")
        self.assertGreater(len(objects), 4)
        for path in objects:
            with tempfile.NamedTemporaryFile() as stripped:
                run("strip", "--strip-debug", "-o", stripped.name, path)
                data = stripped.read()
            for place in (BUILD, ROOT):
                self.assertNotIn(place.encode() + b"/", data, f"{path} names {place}")

    def test_no_library_is_searched_in_the_build(self):
        objects = 0
        for path in self.files():
            with open(path, "rb") as f:
                if f.read(4) != b"\x7fELF":
                    continue
            objects += 1
            for line in run("readelf", "-d", path).splitlines():
                if "PATH)" in line:
                    self.assertNotIn(BUILD, line, path)
        self.assertGreater(objects, 4)


class Prefix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp(prefix="pf install-")  # a space in the name of the build
        cls.addClassCleanup(shutil.rmtree, cls.work)
        # No space in that of the prefix: pkgconf 1.8.1 does not escape it after -Wl,@.
        cls.prefix = tempfile.mkdtemp(prefix="pf-installed-")
        cls.addClassCleanup(shutil.rmtree, cls.prefix)
        build = os.path.join(cls.work, "build")
        for fetched in glob.glob(FETCHED, root_dir=BUILD):
            shutil.copytree(os.path.join(BUILD, fetched), os.path.join(build, fetched))
        flags = {"LDFLAGS": "-Wl,-Bsymbolic-functions"}  # as Ubuntu's packages are linked
        run("meson", "setup", build, ROOT, "--prefix", cls.prefix, "-Dbuildtype=plain", "-Dtests=false", env=dict(environment(), **flags))
        run("ninja", "-C", build, env=environment())
        run("meson", "install", "-C", build, "--no-rebuild", env=environment())
        shutil.rmtree(build)
        cls.env = dict(environment(), PATH=os.path.join(cls.prefix, "bin") + ":" + os.environ["PATH"])
        with open(os.path.join(cls.work, "app.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)

    def check_run(self, *command):
        out = run(*command, env=self.env, cwd=self.work)
        self.assertEqual(sorted(line for line in out.splitlines() if line.startswith("rank")), RESULT)

    def test_what_is_replaced_in_components_is_imported(self):
        component = glob.glob(f"{self.prefix}/lib*/**/mca_coll_portals4.so", recursive=True)[0]
        self.assertRegex(run("readelf", "-rW", component), "ompi_coll_portals4_iscatter_intra")

    def test_wrapper_and_launcher(self):
        run("pfcc", "-Wall", "-Werror", "app.c", "-o", "app", env=self.env, cwd=self.work)
        for model in ("smpi", "portals"):
            self.check_run("pfrun", "-np", "4", "-model", model, "./app")
        self.check_run("pfrun", "-np", "4", "-schedule", "sum=portals", "./app")

    def test_replay(self):
        """The program that plays traces is found where it was installed."""
        run("pfcc", "app.c", "-o", "recorded", env=self.env, cwd=self.work)
        run("pfrun", "-np", "4", "-trace", "replay:app.replay", "./recorded", env=self.env, cwd=self.work)
        for model in ("smpi", "portals"):
            run("pfrun", "-model", model, "-replay", "app.replay", env=self.env, cwd=self.work)

    def test_curve(self):
        """It names the models, so that it has found its modules and pfinfo."""
        self.assertIn("Parfocal", run("pfcurve", "--version", env=self.env, cwd=self.work))
        self.assertIn("Parfocal", run("pftune", "--version", env=self.env, cwd=self.work))

    def test_portals_program(self):
        """Without MPI, with the headers and libraries of the installation."""
        shutil.copy(os.path.join(ROOT, "examples", "portals", "ring.c"), self.work)
        run("pfcc", "-Wall", "-Werror", "ring.c", "-o", "ring", env=self.env, cwd=self.work)
        self.assertIn("3 ranks, 4 laps, token 12 (right)", run("pfrun", "-np", "3", "./ring", "4", env=self.env, cwd=self.work))
        self.assertIn("1 ranks, 4 laps, token 0 (right)", run("./ring", "4", env=environment(), cwd=self.work))
        library = os.path.join(ROOT, "tests", "e2e", "portals", "programs", "library.c")
        run("pfcc", "-I" + os.path.join(self.prefix, "include", "parfocal", "portals-test"), library, "-o", "library",
            "-lpfportals_test", env=self.env, cwd=self.work)
        self.assertIn("library: PASS", run("pfrun", "-np", "4", "./library", env=self.env, cwd=self.work))

    def test_program_by_itself(self):
        run("pfcc", "app.c", "-o", "alone", env=self.env, cwd=self.work)
        out = run("./alone", env=environment(), cwd=self.work)
        self.assertIn("rank 0 sum 0", out)

    def test_cxx(self):
        run("pfcxx", "-x", "c++", "app.c", "-o", "appxx", env=self.env, cwd=self.work)
        self.check_run("pfrun", "-np", "4", "./appxx")

    def test_fortran(self):
        if not shutil.which("gfortran"):
            self.skipTest("gfortran is not installed, so pff90 is not either")
        with open(os.path.join(self.work, "app.f90"), "w", encoding="utf-8") as f:
            f.write(FORTRAN)
        for wrapper in ("pff90", "pff77"):
            run(wrapper, "app.f90", "-o", "app-f", env=self.env, cwd=self.work)
            self.check_run("pfrun", "-np", "4", "./app-f")
        self.assertIn("rank 0 sum 0", run("./app-f", env=environment(), cwd=self.work))

    def test_pkg_config(self):
        found = glob.glob(os.path.join(self.prefix, "lib*/**/pkgconfig"), recursive=True)
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "parfocal", env=dict(self.env, PKG_CONFIG_PATH=found[0])))
        run("cc", "app.c", "-o", "app-pc", *flags, env=self.env, cwd=self.work)
        self.check_run("pfrun", "-np", "4", "./app-pc")
        flags = run("pkg-config", "--cflags", "--libs", "portals", env=dict(self.env, PKG_CONFIG_PATH=found[0])).split()
        shutil.copy(os.path.join(ROOT, "examples", "portals", "ring.c"), self.work)
        run("cc", "ring.c", "-o", "ring-pc", *flags, env=self.env, cwd=self.work)
        self.assertIn("(right)", run("pfrun", "-np", "4", "./ring-pc", env=self.env, cwd=self.work))

    def test_standard_abi(self):
        """Built with another MPI's header; pfrun finds the library in its folder of the installation."""
        include = os.path.join(self.work, "include")
        os.mkdir(include)
        run(sys.executable, os.path.join(ROOT, "tests", "e2e", "abi", "make_header.py"), os.path.join(include, "mpi.h"))
        folder = os.path.dirname(glob.glob(os.path.join(self.prefix, "lib*/**/parfocal/libmpi_abi.so"), recursive=True)[0])
        run("cc", "-I", include, "-I", os.path.join(self.prefix, "include"), "app.c", "-o", "app-abi", "-L" + folder, "-lmpi_abi",
            env=self.env, cwd=self.work)
        self.check_run("pfrun", "-np", "4", "-schedule", "sum=portals", "./app-abi")

    def test_self_test(self):
        self.assertIn("run in portals", run("pfinfo", "--check", env=self.env, cwd=self.work))


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says what it skips
