#!/usr/bin/python3
"""One survey under mpirun with 1 to 4 ranks: the file is the same to the last byte as without mpirun. Prints TAP.

    test_ranks.py PATH/lithoscope-cli
"""
import json
import os

import numpy

from cli_ranks import MPIRUN, make_input, ranked
from cli_tap import cli, read, run, test

# Operators that compute a part of their output from a part of their input: ranks share the slabs.
STREAMED = {"fx": ["fx", "window=10", "half_width=2"],
            "fx-twice": ["fx", "window=10", "half_width=2", "+", "fx", "window=6", "half_width=1"]}


def make_survey():
    make_input(xlines=24, samples=64)


def slabs(*args):
    """Number of slabs by --dry-run: more than one, or the ranks have nothing to share."""
    line = next(x for x in cli(*args, "--dry-run").stdout.splitlines() if x.startswith("slabs"))
    return int(line.split()[1])


def under_ranks(name, words):
    make_survey()
    args = ["run", *words, "-i", "in.sgy", "--backend", "cpu", "--threads", "1", "--memory", MEMORY[name]]
    assert slabs(*args) >= 4, slabs(*args)
    cli(*args, "-o", f"{name}.sgy")
    for n in range(1, 5):
        out = f"{name}-{n}.sgy"
        r = ranked(n, *args, "-o", out, "--timings", f"{name}-{n}.json")
        assert r.returncode == 0, (n, r.stderr)
        assert json.load(open(f"{name}-{n}.json"))["ranks_used"] == n
        assert read(out) == read(f"{name}.sgy"), f"{n} ranks give other bytes"


@test
def mistakes_are_told_once():
    """Words that are wrong are wrong for every rank: the first one tells it, mpirun ends the others, and the status is that of wrong usage."""
    for words, told in ((["run", "patch"], "an input and an output are needed"), (["run", "fx", "--nothing"], "Unknown option --nothing"),
                        (["nothing"], "there is no command 'nothing'")):
        r = ranked(4, *words)
        assert r.returncode == 2, (words, r.returncode, r.stderr)
        assert r.stderr.count(told) == 1, (words, r.stderr)


@test
def patch_under_1_to_4_ranks():
    """Its noise level is measured on all of the survey, by the first rank; one piece gives the same samples."""
    make_survey()
    args = ["run", "patch", "-i", "in.sgy", "--backend", "cpu", "--threads", "1"]
    cli(*args, "-o", "patch.npy", "--force")
    for n in (2, 4):
        r = ranked(n, *args, "-o", f"patch-{n}.npy", "--force", "--timings", f"patch-{n}.json")
        assert r.returncode == 0, (n, r.stderr)
        told = json.load(open(f"patch-{n}.json"))
        assert told["ranks_used"] == n and told["slabs"] >= n, told
        assert read(f"patch-{n}.npy") == read("patch.npy"), f"{n} ranks give other samples"


@test
def wave_packets_in_segments():
    """Segments are dealt out like slabs; the noise level is measured before. Odd memory limits give the same samples."""
    cli("synth", "planes", "inlines=160", "xlines=8", "samples=72", "missing=10", "-o", "segments.sgy", "--no-truth")
    for name, words in {"packets": ["wavepacket", "block=48", "overlap=16", "scales=2"],
                        "sigma": ["wavepacket", "block=40", "scales=2", "sigma=0.1", "rule=soft"],
                        "exact": ["wavepacket", "block=64", "scales=2", "mode=reconstruct", "corrections=1"]}.items():
        args = ["run", *words, "-i", "segments.sgy", "--backend", "cpu", "--threads", "1"]
        cli(*args, "-o", f"{name}.npy")
        for memory in ("0.03", "0.045") if name == "exact" else ("0.03",): # the others have two slabs by both
            assert slabs(*args, "--memory", memory) > 1, name
            cli(*args, "--memory", memory, "-o", f"{name}-{memory}.npy")
            assert read(f"{name}-{memory}.npy") == read(f"{name}.npy"), (name, memory)
        for n in (2, 4) if name == "packets" else (3,):
            r = ranked(n, *args, "-o", f"{name}-{n}.npy", "--timings", f"{name}-{n}.json")
            assert r.returncode == 0, (n, r.stderr)
            assert json.load(open(f"{name}-{n}.json"))["ranks_used"] == n
            assert read(f"{name}-{n}.npy") == read(f"{name}.npy"), f"{name}: {n} ranks give other samples"


@test
def wave_packets_that_do_not_fit_are_cut():
    """Where memory holds no four copies of the survey, segments are chosen: as if they had been asked for."""
    cli("synth", "planes", "inlines=120", "xlines=72", "samples=72", "-o", "large.npy", "--no-truth")
    args = ["run", "wavepacket", "scales=2", "sigma=0.1", "-i", "large.npy", "--backend", "cpu", "--threads", "2"]
    r = cli(*args, "--memory", "0.08", "-o", "cut.npy")
    assert "block=64" in r.stderr and "in parts" in r.stderr, r.stderr
    cli(*args, "block=64", "-o", "asked.npy")
    assert read("cut.npy") == read("asked.npy")


# GiB of host memory for which each flow takes several slabs.
MEMORY = {"fx": "0.008", "fx-twice": "0.018"}


@test
def uneven_traces_under_1_to_3_ranks():
    """Gains of traces are measured on all of the survey, by the first rank; slabs and one piece give the same samples."""
    cli("synth", "planes", "inlines=112", "xlines=32", "samples=64", "scatter=40", "snr=20", "-o", "uneven.npy", "--no-truth")
    for memory, ranks, words in (("0.007", (1, 2, 3), ["fx", "window=10", "half_width=1", "erratic=0", "fill_passes=0"]),
                                 ("0.015", (2, 3), ["wavepacket", "block=32", "scales=2"])):
        name = words[0]
        args = ["run", *words, "-i", "uneven.npy", "--backend", "cpu", "--threads", "1"]
        told = cli(*args, "-o", f"{name}-balanced.npy")
        assert "amplitudes differ from trace to trace" in told.stdout + told.stderr, told
        cli(*args, "balance=off", "-o", f"{name}-as-they-are.npy")
        assert read(f"{name}-balanced.npy") != read(f"{name}-as-they-are.npy")
        for n in ranks:
            args_n = [*args, "--memory", memory, "-o", f"{name}-balanced-{n}.npy"]
            assert slabs(*args_n) >= 3, slabs(*args_n)
            r = ranked(n, *args_n, "--timings", f"{name}-balanced-{n}.json")
            assert r.returncode == 0, (n, r.stderr)
            assert json.load(open(f"{name}-balanced-{n}.json"))["ranks_used"] == n
            assert read(f"{name}-balanced-{n}.npy") == read(f"{name}-balanced.npy"), f"{n} ranks give other samples of {name}"


@test
def fx_under_1_to_4_ranks():
    under_ranks("fx", STREAMED["fx"])


@test
def two_steps_under_1_to_4_ranks():
    under_ranks("fx-twice", STREAMED["fx-twice"])


# Operators that need the whole survey at once, or none: all ranks compute one pass together. The second word says how many
# of them find work: "all", or "one" where a single rank computes.
WHOLE = {"wavepacket": ("one", ["wavepacket", "scales=3", "directions=4"]),
         "compress": ("one", ["wavepacket", "mode=compress", "scales=3", "directions=4"]),
         "segments-compress": ("one", ["wavepacket", "mode=compress", "block=32", "scales=2"]),
         "interpolate": ("one", ["wavepacket", "mode=interpolate", "iterations=2", "scales=3", "directions=4"]),
         "patch": ("all", ["patch"]), "patch-fixed": ("all", ["patch", "sigma=0.1", "erratic=0"]),
         "fill": ("one", ["patch", "mode=fill", "iterations=3"]), # one block
         "migrate": ("all", ["migrate", "velocity=2500", "nz=12", "dz=20"]),
         "coarse": ("all", ["migrate", "velocity=2500", "nz=12", "dz=20", "coarse=on"]),
         "few": ("3", ["migrate", "velocity=2500", "nz=12", "dz=20", "fmin=10", "fmax=17"]),
         "shot": ("all", ["migrate", "mode=shot", "velocity=2500", "nz=12", "dz=20", "source_x=400", "imaging=normalised"]),
         "demigrate": ("all", ["migrate", "mode=demigrate", "velocity=2500", "dt=0.004", "nt=96"]),
         "chain": ("all", ["fx", "window=10", "half_width=1", "+", "migrate", "velocity=2500", "nz=8", "dz=20"]),
         "twsm": ("all", ["twsm", "frequencies=6"]), "twsm-fast": ("all", ["twsm", "frequencies=6", "algorithm=fft"]),
         "twsm-fused": ("all", ["twsm", "model=syncline", "frequencies=3", "algorithm=fused"]),
         "twsm-strips": ("all", ["twsm", "model=syncline", "frequencies=2", "algorithm=mod2", "strip_width=100"]),
         "twsm-clusters": ("all", ["twsm", "model=syncline", "frequencies=3", "algorithm=fast"])}
# Sums of parts: their order follows the number of ranks. All others give the same bytes.
SUMS = {"migrate", "coarse", "few", "shot", "demigrate", "chain"}


def difference(a, b):
    """Norm of the difference of two NumPy files over that of the first."""
    x, y = (numpy.load(f).astype("f8").ravel() for f in (a, b))
    assert x.shape == y.shape and numpy.linalg.norm(x) > 0
    return numpy.linalg.norm(x - y) / numpy.linalg.norm(x)


@test
def every_operator_under_1_to_4_ranks():
    if not os.path.exists("small.sgy"):
        cli("synth", "planes", "inlines=40", "xlines=36", "samples=96", "missing=10", "-o", "small.sgy", "--no-truth")
    listed = {line.split()[0] for line in cli("list").stdout.splitlines() if line and line[0].isalpha()}
    tried = {words[0] for words in [*STREAMED.values(), *(words for _, words in WHOLE.values())]}
    assert listed <= tried, listed - tried  # a new operator brings its line
    cli("run", *WHOLE["migrate"][1], "-i", "small.sgy", "-o", "depth.sgy")
    for k, (name, (share, words)) in enumerate(WHOLE.items()):
        source = [] if words[0] == "twsm" else ["-i", "depth.sgy" if name == "demigrate" else "small.sgy"]
        args = ["run", *words, *source, "--backend", "cpu", "--threads", "1"]
        cli(*args, "-o", f"whole-{name}.npy")
        for n in [(3,), (1, 4), (2,)][k % 3]:
            out, told = f"whole-{name}-{n}.npy", f"whole-{name}-{n}.json"
            r = ranked(n, *args, "-o", out, "--timings", told)
            assert r.returncode == 0, (name, n, r.stderr)
            told = json.load(open(told))
            used = {"all": n, "one": 1}.get(share) or min(n, int(share))
            assert told["ranks_used"] == used, (name, n, told["ranks_used"])
            assert n == 1 or len(told["ranks"]) == n
            if name in SUMS:
                assert difference(f"whole-{name}.npy", out) < 1e-6, (name, n, difference(f"whole-{name}.npy", out))
            else:
                assert read(out) == read(f"whole-{name}.npy"), f"{name}: {n} ranks give other bytes"


@test
def blocks_to_fill_are_dealt_out():
    """Along inlines, along crosslines, and along both: 2 x 2 blocks."""
    for inlines, xlines, samples, blocks in ((520, 6, 48, 2), (6, 520, 48, 2), (400, 400, 8, 4)):
        cli("synth", "planes", f"inlines={inlines}", f"xlines={xlines}", f"samples={samples}", "missing=20", "-o", "survey.sgy", "--no-truth",
            "--force")
        args = ["run", "patch", "mode=fill", "iterations=2", "overlap=2", "-i", "survey.sgy", "--backend", "cpu", "--threads", "1", "--force"]
        args += ["sigma=0.1", "erratic=0"] if blocks == 4 else []
        assert slabs(*args) == blocks
        cli(*args, "-o", "blocks.sgy")
        for n in (2, 3):
            r = ranked(n, *args, "-o", f"blocks-{n}.sgy", "--timings", f"blocks-{n}.json")
            assert r.returncode == 0, (n, r.stderr)
            told = json.load(open(f"blocks-{n}.json"))
            assert told["ranks_used"] == min(n, blocks), (inlines, xlines, told["ranks_used"])
            assert read(f"blocks-{n}.sgy") == read("blocks.sgy"), f"{n} ranks give other bytes"


@test
def a_step_that_cannot_be_shared_keeps_one_process_busy():
    """Every process computed all of the packets, with as much memory; and a sentence for all is told once."""
    make_survey()
    args = ["run", "wavepacket", "mode=compress", "scales=2", "-i", "in.sgy", "--backend", "cpu", "--threads", "1"]
    cli(*args, "coefficients=one.lwp", "-o", "one.npy")
    r = ranked(3, *args, "coefficients=three.lwp", "-o", "three.npy", "--timings", "three.json")
    assert r.returncode == 0 and r.stderr.count("the first of 3 processes computes") == 1, r.stderr
    told = json.load(open("three.json"))
    assert told["ranks_used"] == 1 and [rank["flops"] > 0 for rank in told["ranks"]] == [True, False, False], told
    assert read("three.npy") == read("one.npy") and read("three.lwp") == read("one.lwp")
    assert ranked(2, *args, "-o", "never.npy", "--dry-run").stdout.count("nothing") == 1
    r = ranked(3, *args[:2], "block=7", *args[4:], "-o", "never.npy")
    assert r.returncode == 1 and r.stderr.count("are too small") == 1, r.stderr


# A step behind a filling needs a part of the blocks around; each stays with the process that fills it.
CHAIN = ["patch", "mode=fill", "overlap=2", "+", "fx", "window=10", "half_width=1"]


# Nothing of the survey is measured for such a step.
UNMEASURED = ["shared=off", "balance=off", "steady=off"]


def stage_flops(told, name):
    return sum(stage["flops"] for stage in told["stages"] if stage["name"] == name)


def rows_of_blocks(words, name):
    """A filling of five blocks in a row and a step behind it: in one process and in three, which give the same bytes. Timings of both."""
    if not os.path.exists("rows.npy"):
        cli("synth", "planes", "inlines=1300", "xlines=8", "samples=32", "missing=30", "-o", "rows.npy", "--no-truth")
    args = ["run", *words, "-i", "rows.npy", "--backend", "cpu", "--threads", "1"]
    cli(*args, "-o", f"{name}-1.npy", "--timings", f"{name}-1.json")
    r = ranked(3, *args, "-o", f"{name}-3.npy", "--timings", f"{name}-3.json")
    assert r.returncode == 0, r.stderr
    alone, told = json.load(open(f"{name}-1.json")), json.load(open(f"{name}-3.json"))
    assert told["slabs"] == 5 and told["ranks_used"] == 3, told
    assert read(f"{name}-3.npy") == read(f"{name}-1.npy")
    return alone, told, ranked(2, *args, "-o", "never.npy", "--dry-run")


@test
def steps_behind_blocks_compute_none_of_them_again():
    """Three processes filled the neighbouring rows of each of theirs: 2.6 times the work of one process. Here nothing is measured of what
    the filling gives, so its blocks are not kept."""
    words = [*CHAIN[:2], "iterations=6", *CHAIN[2:], *UNMEASURED]
    alone, told, r = rows_of_blocks(words, "rows")
    # Operations of all processes, of which the others only fill: times say more of waiting and of starting.
    filled = stage_flops(told, "filling") + sum(rank["flops"] for rank in told["ranks"][1:])
    assert 0 < filled < 1.1 * stage_flops(alone, "filling"), (told, alone["stages"])
    assert "process 0, " in r.stdout and "computes the steps behind" in r.stdout, r.stdout


@test
def blocks_that_a_step_is_measured_on_are_computed_once():
    """The first process filled three of the five blocks to measure the step behind them, and all were filled again: 1.5 times the work of
    one process. tests/test-stream.c counts measurements and blocks."""
    alone, told, r = rows_of_blocks([*CHAIN[:2], "iterations=6", "sigma=0.1", *CHAIN[2:]], "measured")
    done = sum(rank["flops"] for rank in told["ranks"])
    assert stage_flops(alone, "filling") < done < 1.1 * sum(s["flops"] for s in alone["stages"]), (told, alone["stages"])
    assert min(rank["flops"] for rank in told["ranks"]) > 0.15 * done, told
    assert "are computed first, once" in r.stdout and "the steps behind" not in r.stdout, r.stdout


@test
def steps_behind_blocks_give_the_same_bytes():
    """Blocks along both axes and a level that is measured; two fillings, of which the first is kept for the step that is measured on it,
    and the second has a step behind its slabs; a volume. One process computes in one piece, which the text header of a SEG-Y file tells."""
    cli("synth", "planes", "inlines=384", "xlines=384", "samples=8", "missing=20", "-o", "both.npy", "--no-truth")
    cli("synth", "planes", "inlines=520", "xlines=8", "samples=24", "missing=20", "-o", "two.npy", "--no-truth")
    again = ["+", "patch", "mode=fill", "iterations=2", "window=8", "overlap=2", "sigma=0.1", "+", "fx", "window=8", "half_width=1", *UNMEASURED]
    coherence = [*UNMEASURED, "+", "patch", "sigma=0.1", "window=8", "overlap=2", "--volume", "coherence=V"]
    for name, survey, ranks, more in (("twice", "both.npy", 3, again), ("volume", "two.npy", 2, coherence)):
        args = ["run", *CHAIN[:2], "iterations=2", "window=8", *CHAIN[2:], *more, "-i", survey, "--backend", "cpu", "--threads", "1"]
        for n in (1, ranks):
            out = f"{name}-{n}.npy"
            own = [f"coherence={name}-{n}-volume.npy" if w == "coherence=V" else w for w in args]
            r = ranked(n, *own, "-o", out) if n > 1 else cli(*own, "-o", out)
            assert r.returncode == 0, (name, n, r.stderr)
            assert read(out) == read(f"{name}-1.npy"), f"{name}: {n} ranks give other bytes"
            if name == "volume":
                assert read(f"{name}-{n}-volume.npy") == read(f"{name}-1-volume.npy"), n


@test
def ranks_that_sum_give_the_same_bytes_again():
    """The tree of partial sums is fixed by the number of ranks."""
    words = WHOLE["migrate"][1]
    for k in range(2):
        r = ranked(3, "run", *words, "-i", "small.sgy", "--backend", "cpu", "--threads", str(k + 1), "-o", f"again-{k}.npy")
        assert r.returncode == 0, r.stderr
    assert read("again-0.npy") == read("again-1.npy")


@test
def a_survey_that_is_too_faint_is_refused_by_all():
    """No process has read all of it; slabs that are faint beside louder ones of another process are right."""
    make_survey()
    cli("convert", "in.sgy", "in.npy", "--force")
    cube = numpy.load("in.npy")
    numpy.save("faint.npy", cube * numpy.float32(2.0**-80))
    cube[:, :20] *= numpy.float32(2.0**-80)  # every slab is faint in part
    cube[40:] *= numpy.float32(2.0**-60)
    numpy.save("half.npy", cube)
    args = ["run", *STREAMED["fx"], "--backend", "cpu", "--threads", "1", "--memory", MEMORY["fx"], "--force"]
    assert slabs(*args, "-i", "faint.npy", "-o", "never.npy") >= 4
    for n in (2, 3):
        r = ranked(n, *args, "-i", "faint.npy", "-o", "never.npy")
        assert r.returncode == 1 and r.stderr.count("convert --scale") == 1, (n, r.returncode, r.stderr)
        assert not [f for f in os.listdir(".") if f.startswith("never")], os.listdir(".")
        r = ranked(n, *args, "-i", "half.npy", "-o", "half-out.npy")
        assert r.returncode == 0, r.stderr


@test
def pipes_are_refused():
    """All ranks but the first read an empty standard input, and their copies of the survey went to standard output."""
    make_survey()
    for words in (["-i", "-", "-o", "piped.sgy"], ["-i", "in.sgy", "-o", "-"]):
        r = ranked(2, "run", "fx", *words)
        assert r.returncode == 2 and "under mpirun name files" in r.stderr and not os.path.exists("piped.sgy"), (r.returncode, r.stderr)


@test
def a_rank_that_fails_ends_all():
    """The first process tells the sentence of the one that failed, and leaves no file."""
    for name in ("migrate", "twsm"):
        words = WHOLE[name][1]
        source = [] if name == "twsm" else ["-i", "small.sgy"]
        script = 'if [ "${OMPI_COMM_WORLD_RANK:-0}" = 1 ]; then export LITHO_MEMORY=1M; fi; exec "$0" "$@"'
        r = ranked(3, "run", *words, *source, "--backend", "cpu", "--threads", "1", "-o", f"fails-{name}.npy", under=("sh", "-c", script), timeout=60)
        assert r.returncode != 0, r.stderr
        assert "GiB" in r.stderr, r.stderr
        assert not [f for f in os.listdir(".") if f.startswith(f"fails-{name}")], os.listdir(".")


if not MPIRUN:
    print("1..0 # SKIP there is no mpirun")
else:
    run()
