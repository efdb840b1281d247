#!/usr/bin/python3
"""What run, sweep, find, report and compare say of a result, and what they say of words that do nothing. Prints TAP.

    test_cli_judge.py PATH/lithoscope-cli
"""
import json
import os
import re

import numpy as np

from cli_tap import cli, run, test

HOLES = os.path.join(os.environ["LITHO_DATA_DIR"], "surveys", "holes")


def holes():
    return os.path.join(HOLES, "holes.sgy"), os.path.join(HOLES, "holes-truth.sgy")


@test
def a_flow_that_fills_is_judged_by_what_it_fills():
    """The true SNR is that of the filled traces, as summed here; nothing is told of recorded traces, which stay."""
    survey, truth = holes()
    r = cli("run", "patch", "preset=fill", "-i", survey, "--reference", truth, "-o", "filled.npy", "--report", "filled.json", "--backend", "cpu")
    told = json.load(open("filled.json"))
    for name, path in (("in", survey), ("truth", truth)):
        cli("convert", path, f"{name}.npy")
    before, s, after = (np.load(f"{name}.npy").astype(float) for name in ("in", "truth", "filled"))
    gone = ~np.nan_to_num(before).any(axis=2)
    snr = 10 * np.log10((s[gone] ** 2).sum() / ((after - s)[gone] ** 2).sum())
    assert abs(told["snr_db"] - snr) < 0.02 and told["filled_traces"] == gone.sum(), (told["snr_db"], snr)
    assert f"true SNR of the filled traces {told['snr_db']:.2f} dB (300 traces)" in r.stdout, r.stdout
    assert "expected SNR" not in r.stdout and "expected_snr_db" not in told and "may be too high" not in r.stdout, r.stdout


@test
def settings_that_fill_are_ranked_by_hidden_traces():
    survey, truth = holes()
    words = ["-i", survey, "--reference", truth, "--backend", "cpu"]
    r = cli("sweep", "patch", "mode=fill", "iterations=5,30", *words, "--hide", "10", "--json", "fills.json")
    rows = r.stdout.strip().splitlines()
    assert len(rows) == 2 and rows[1].startswith("* iterations 30") and json.load(open("fills.json"))["best"] == 1, r.stdout
    for key, words_of in (("hidden_snr_db", "hidden traces"), ("snr_db", "true SNR of the filled traces")):
        values = [t[key] for t in json.load(open("fills.json"))["runs"]]
        assert values[1] > values[0] + 3 and all(f"{words_of} {v:.2f} dB" in row for v, row in zip(values, rows)), (values, rows)
    r = cli("sweep", "patch", "mode=fill", "iterations=5,30", "-i", survey, "--json", "fills.json", "--force")
    assert "* iterations 30" in r.stdout, r.stdout
    r = cli("find", "patch", "mode=fill", "iterations=5", *words, "--seconds", "5")
    assert re.search(r"hidden traces [\d.]+ dB, found", r.stdout) and re.search(r"true SNR of the filled traces [\d.]+ dB, found", r.stdout), r.stdout


@test
def sweep_has_the_words_of_run():
    """A bound is told as a bound; truth and hidden traces both stand on stdout."""
    cli("synth", "planes", "inlines=24", "xlines=24", "samples=96", "snr=20", "-o", "quiet.npy")
    words = ["-i", "quiet.npy", "--reference", "quiet-truth.npy", "--hide", "5", "--sigma", "0.1", "--backend", "cpu"]
    told = cli("run", "fx", "prewhitening=1", *words, "-o", "quiet-fx.npy").stdout
    snr = re.search(r"expected SNR +(.*?), input", told).group(1)
    true = re.search(r"true SNR +([\d.]+ dB)", told).group(1)
    hidden = re.search(r"hidden traces +([\d.]+ dB)", told)
    swept = cli("sweep", "fx", "prewhitening=1,100", *words, "--json", "quiet.json").stdout.splitlines()[0]
    assert snr.startswith("at most ") and f"expected SNR {snr} " in swept and f"true SNR {true}" in swept, (told, swept)
    assert not hidden or f"hidden traces {hidden.group(1)}" in swept, (told, swept)


@test
def bands_beyond_nyquist():
    """A lowest frequency that no sample holds is refused before anything is written; a highest one is told where it was written down."""
    cli("synth", "planes", "inlines=12", "xlines=14", "samples=64", "-o", "band.npy", "--no-truth")
    for words in (["fmin=200"], ["fmin=130", "fmax=140", "outband=mute"], ["fmin=125"]):
        r = cli("run", "fx", *words, "-i", "band.npy", "-o", "off.npy", status=1)
        assert f"{words[0][5:]} Hz" in r.stderr and "Nyquist frequency of this survey, 125 Hz" in r.stderr, r.stderr
        assert not os.path.exists("off.npy")
    r = cli("run", "fx", "fmin=20", "fmax=140", "-i", "band.npy", "-o", "band-fx.npy", "--backend", "cpu")
    assert r.stderr.count("note: fx: fmax is 140 Hz") == 1 and "125 Hz" in r.stderr, r.stderr
    r = cli("run", "fx", "fmin=20", "fmax=100", "-i", "band.npy", "-o", "band-fx.npy", "--force", "--backend", "cpu")
    assert "Nyquist" not in r.stderr, r.stderr
    # Cycles per km where samples are depths: 2 m hold 250.
    cli("run", "fx", "fmin=200", "-i", "band.npy", "--depth", "--dt", "2", "-o", "deep.npy", "--backend", "cpu")
    r = cli("run", "fx", "fmin=260", "-i", "band.npy", "--depth", "--dt", "2", "-o", "off.npy", status=1)
    assert "260 1/km" in r.stderr and "250 1/km" in r.stderr, r.stderr


@test
def words_that_do_nothing_are_told():
    cli("synth", "planes", "inlines=12", "xlines=14", "samples=64", "-o", "idle.npy", "--no-truth")
    plain = ["run", "patch", "-i", "idle.npy", "-o", "idle-out.npy", "--force", "--backend", "cpu"]
    for words in (["--sigma", "5"], ["--area", "1:8,,"], ["--seed", "3"]):
        r = cli(*plain, *words)
        assert r.stderr.count(f"note: {words[0]} only judges") == 1, r.stderr
        assert ("sigma=5" in r.stderr) == (words[0] == "--sigma"), r.stderr
        assert "only judges" not in cli(*plain, *words, "--report", "idle.json").stderr
    assert "only judges" not in cli(*plain).stderr
    for words in (["mode=fill"], ["preset=fill"]):
        assert cli(*plain, *words).stderr.count("no trace is missing: nothing was filled") == 1
    assert "nothing was filled" not in cli(*plain, "mode=both").stderr
    r = cli("run", "patch", "mode=fill", "iterations=2", "-i", holes()[0], "-o", "idle-out.npy", "--force", "--backend", "cpu")
    assert "nothing was filled" not in r.stderr, r.stderr


@test
def compare_tells_what_it_leaves_out():
    survey, truth = holes()
    r = cli("compare", truth, survey)
    assert "one of the cubes has none there: 300 of 768" in r.stderr, r.stderr
    assert json.loads(cli("compare", survey, truth, "--json").stdout)["traces_left_out"] == 300
    assert json.loads(cli("compare", truth, truth, "--json").stdout)["traces_left_out"] == 0
    assert "left out" not in cli("compare", truth, survey, "--mask", survey).stderr
    np.save("three.npy", np.ones((4, 5, 6), "f4"))
    np.save("four.npy", np.ones((4, 5, 9), "f4"))
    assert "4 x 5 x 6 and 4 x 5 x 9" in cli("compare", "three.npy", "four.npy", status=1).stderr


@test
def a_report_is_written_where_volumes_alone_are():
    survey, truth = holes()
    r = cli("run", "patch", "-i", survey, "--volume", "coherence=c.npy", "--report", "volume.json", "--reference", truth)
    assert json.load(open("volume.json"))["snr_db"] > 0 and "true SNR" in r.stdout, r.stdout
    assert os.path.exists("c.npy")


@test
def figures_of_a_survey_that_goes_to_standard_output_go_to_standard_error():
    """The bytes of the survey are those of a run that is not judged; nothing that was asked for is left out."""
    survey, truth = holes()
    plain = cli("run", "fx", "-i", survey, "-o", "-", text=False)
    for words in (["--report", "piped.json"], ["--reference", truth], ["--hide", "5"]):
        r = cli("run", "fx", "-i", survey, "-o", "-", *words, text=False)
        assert r.stdout == plain.stdout, (words, len(plain.stdout), len(r.stdout))
        assert b"noise level" in r.stderr, r.stderr
    assert "expected_snr_db" in json.load(open("piped.json"))
    r = cli("run", "fx", "-i", survey, "-o", "judged.sgy", "--reference", truth)
    assert "true SNR" in r.stdout and "true SNR" not in r.stderr


@test
def a_report_shows_the_slices_that_are_named():
    """Also beyond the part that the figures are of; a slice that the page cannot show is refused before anything is computed."""
    survey, _ = holes()
    words = ["report", "fx", "-i", survey, "--force", "-o", "page.png", "--json", "page.json"]
    cli(*words)
    middle = json.load(open("page.json"))["slices"]
    cli(*words, "--inline", "2", "--time", "40ms")
    chosen = json.load(open("page.json"))["slices"]
    assert chosen["inline"] == 2 and abs(chosen["time"] - 0.04) < 1e-9 and chosen["crossline"] == middle["crossline"], (chosen, middle)
    assert middle["inline"] != 2, middle
    assert "--inline is given more than once" in cli(*words, "--inline", "2", "--inline", "3", status=2).stderr
    assert "use --time" in cli(*words, "--depth", "80", status=1).stderr
    assert "there is no inline 99" in cli(*words, "--inline", "99", status=1).stderr
    assert "lies outside --area" in cli(*words, "--inline", "2", "--area", "10:20,,", status=1).stderr
    cli(*words[:4], "--force", "--json", "figures.json")
    assert "slices" not in json.load(open("figures.json"))


@test
def numbers_that_nobody_can_judge_by_are_refused():
    survey, _ = holes()
    for words in (["--sigma", "-3"], ["--sigma", "nan"], ["--sigma", "inf"], ["--hide", "-5"], ["--hide", "nan"], ["--hide", "100"]):
        r = cli("run", "fx", "-i", survey, "-o", "odd.npy", "--report", "odd.json", *words, status=2)
        assert f"{words[0]} is {words[1]}" in r.stderr, r.stderr
        r = cli("report", "fx", "-i", survey, "--json", "odd.json", *words, status=2)
        assert f"{words[0]} is {words[1]}" in r.stderr, r.stderr
    assert not os.path.exists("odd.json") and not os.path.exists("odd.npy")


@test
def a_report_holds_numbers_alone():
    """Samples whose squares leave the range of a float: their noise level is no number, and JSON has none for it."""
    x = np.random.default_rng(1).standard_normal((20, 20, 100)).astype("f4")
    x[:, 10:] *= 1e25
    np.save("loud.npy", x)
    def refuse(word):
        raise ValueError(word)
    cli("run", "fx", "-i", "loud.npy", "-o", "loud-out.npy", "--report", "loud.json")
    told = json.load(open("loud.json"), parse_constant=refuse)
    assert "sigma_of_frequency" in told["noise"], told


@test
def compare_refuses_options_of_its_other_form():
    """'compare A B -o FILE' wrote no file and said so nowhere."""
    survey, truth = holes()
    for words in (["-o", "x.md"], ["--backend", "cpu"], ["--threads", "2"], ["--force"], ["--seed", "2"], ["--size", "24x24x48"]):
        r = cli("compare", survey, truth, *words, status=2)
        assert "does nothing without --operators" in r.stderr, r.stderr
    for words in (["--mask", survey], ["--json"]):
        r = cli("compare", "--operators", "-o", "x.md", *words, status=2)
        assert f"{words[0]} does nothing with --operators" in r.stderr, r.stderr
    r = cli("compare", "--operators", "-o", "x.md", "--threads", "-4", status=2)
    assert "--threads is -4" in r.stderr and not os.path.exists("x.md"), r.stderr


@test
def a_sheet_tells_no_number_of_an_input_of_zeros():
    np.save("zeros.npy", np.zeros((20, 20, 100), "f4"))
    r = cli("sweep", "fx", "half_width=1,2", "-i", "zeros.npy", "-o", "zeros.svg", "--json", "zeros.json")
    assert "nan" not in r.stdout and "removed" not in r.stdout and len(r.stdout.splitlines()) == 2, r.stdout


@test
def little_that_is_removed_is_not_nothing():
    """As the window's panel has it: 0.0 % is nothing."""
    cli("synth", "planes", "inlines=24", "xlines=24", "samples=64", "snr=45", "--no-truth", "-o", "quiet.npy", "--force")
    told = cli("report", "patch", "-i", "quiet.npy", "-o", "quiet.pdf", "--force").stdout
    assert re.search("removed +< 0.1 % of the energy", told), told

run()
