"""What the tests of the command line share: cli() runs a command and checks its status, @test collects, run() prints
TAP from a scratch folder."""
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

CLI = os.path.abspath(sys.argv[1])
TESTS = []


def test(f):
    TESTS.append(f)
    return f


def cli(*args, status=0, file_limit=None, memory_limit=None, **more):
    """file_limit: bytes after which every write to a file fails (EFBIG), as on a full disk. memory_limit: bytes of
    address space."""
    def limit():
        if file_limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        if memory_limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    more = {"capture_output": True, "text": True, "timeout": 300, **more}
    r = subprocess.run([CLI, *map(str, args)], preexec_fn=limit, **more)
    assert status is None or r.returncode == status, f"{args}: status {r.returncode}, wanted {status}\n{r.stdout}\n{r.stderr}"
    return r


def read(name):
    with open(name, "rb") as f:
        return f.read()


def processor_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def small_cube():
    """n.npy: 8 x 8 traces of 64 samples, for tests that ask for no more than a survey."""
    cli("synth", "planes", "inlines=8", "xlines=8", "samples=64", "-o", "n.npy", "--no-truth")


def run(prepare=None):
    """`prepare` makes the files that several tests of a script read."""
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if prepare:
            prepare()
        for n, f in enumerate(TESTS, 1):
            name = f.__name__.replace("_", " ")
            start, used = time.monotonic(), processor_s()
            try:
                f()
                print(f"ok {n} {name}", flush=True)
            except Exception as e:  # any surprise is a failure of this test, the next ones still run
                failed += 1
                print(f"not ok {n} {name}", flush=True)
                for line in f"{type(e).__name__}: {e}".splitlines():
                    print(f"# {line}", flush=True)
            print(f"# {time.monotonic() - start:.1f} s, {processor_s() - used:.1f} s of processor", flush=True)
        os.chdir("/")
    sys.exit(1 if failed else 0)
