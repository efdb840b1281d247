"""What the tests of the command line share: cli() runs a command and checks its status, @test collects, run() prints
TAP from a scratch folder."""
import glob
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


def where_threads_wait():
    """Each thread of all our programs with what it waits in: what a command that hangs leaves to be read."""
    def told(path):
        try:
            with open(path) as file:
                return file.read().strip()
        except OSError:  # it has ended, or is another user's
            return "-"

    def is_ours(task):
        try:
            return os.path.basename(os.readlink(f"{task}/exe")) == os.path.basename(CLI)
        except OSError:
            return False

    tasks = [task for task in glob.glob("/proc/[0-9]*/task/[0-9]*") if is_ours(task)]
    return "\n".join(" ".join([task, *(told(f"{task}/{name}") for name in ("comm", "wchan", "syscall"))]) for task in sorted(tasks))


def cli(*args, status=0, file_limit=None, memory_limit=None, **more):
    """file_limit: bytes after which every write to a file fails (EFBIG), as on a full disk. memory_limit: bytes of
    address space."""
    def limit():
        if file_limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
        if memory_limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    timeout = more.pop("timeout", 300)
    if more.pop("capture_output", True):
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    process = subprocess.Popen([CLI, *map(str, args)], preexec_fn=limit, **{"text": True, **more})
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        where = where_threads_wait()
        process.kill()
        process.wait()
        raise AssertionError(f"{args}: not done after {timeout} s\n{where}")
    r = subprocess.CompletedProcess(process.args, process.returncode, out, err)
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
