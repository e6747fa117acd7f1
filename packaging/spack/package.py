# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *


class Parfocal(MesonPackage):
    """Runs an unmodified MPI application on a simulated cluster, in one process. The model of the network can change while the
    application runs: an analytical one, SMPI, or the stock Open MPI on a simulated Portals 4 network interface."""

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="compiler wrappers for Fortran")
    variant("pfcurve", default=True, description="what pfcurve needs to run")

    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("help2man", type="build")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("uthash", type="build")
    depends_on("simgrid@3.32:+smpi", type=("build", "link", "run"))
    # With its development headers (configure --with-devel-headers), as distributions have it: packages.yaml.
    depends_on("openmpi@4.1.4:4.1,5.0.5:5.0", type=("build", "link", "run"))
    depends_on("pmix")
    depends_on("elfutils")
    depends_on("libffi")
    depends_on("jansson")
    depends_on("gsl")
    depends_on("otf2@3:")
    depends_on("py-matplotlib", type="run", when="+pfcurve")
    depends_on("py-jinja2", type="run", when="+pfcurve")

    def meson_args(self):
        return ["-Dtests=false"]
