// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/engine/quality.h"

// Results whose SNR nobody can tell, or tells of something else: all put the reason, with the
// figure that tells it, and what can be done about it into `quality`.

// Noise of data that went through a filter is left where their events are. Nothing tells one from
// the other, and the level is that of what the filter left beside them.
void litho_quality_tell_filtered(const LithoNoise *noise, LithoQuality *quality);
// Events of unequal gain pass for noise: a flow that keeps them removes less than such a level.
void litho_quality_tell_uneven(const LithoNoise *noise, LithoQuality *quality);
// Where single traces are noisier than their neighbours: the level is that of most traces, and what
// is left or taken of the others' noise counts as error.
void litho_quality_tell_noisy(const LithoNoise *noise, LithoQuality *quality);
// Swell on groups of traces of a line, or of few lines: events and bursts are what windows take it
// for, and the level misses most of it.
void litho_quality_tell_swell(const LithoNoise *noise, LithoQuality *quality);
// The level of noise that varies from place to place, or stands in lines, is known less well.
// The sentence tells gain control and lines, as of hum and swell, from what else varies.
void litho_quality_tell_varying(const LithoNoise *noise, LithoQuality *quality);
// Windows of a survey that is small, or has short traces, tell it less well, too. The interval
// stays, which is wide, but is not told. Shorter traces than LITHO_QUALITY_SHORTEST are short.
enum { LITHO_QUALITY_SHORTEST = 32 };
// Steady noise that the flow leaves counts as signal.
void litho_quality_tell_steady(const LithoNoise *noise, LithoQuality *q);
void litho_quality_tell_small(const LithoNoise *noise, LithoQuality *quality);
// Ground roll passes for events: the SNR is that of what is left of the random noise.
void litho_quality_tell_steep(const LithoNoise *noise, LithoQuality *quality);
// A remark beside an SNR that is told: what is lost to shifts of single traces.
void litho_quality_tell_shifts(const LithoNoise *noise, LithoQuality *quality);
// Another one: single traces of reversed polarity, how many and where, if there are any.
void litho_quality_tell_reversed(const LithoNoise *noise, const LithoFlow *flow,
                                 LithoQuality *quality);
// Another one, where traces' amplitudes differ and no step of the flow balances them: what is lost.
void litho_quality_tell_gains(const LithoNoise *noise, const LithoFlow *flow,
                              LithoQuality *quality);
// Another one: an offset of the samples that counts as signal, where LITHO_QUALITY_OFFSET of what
// they stray from it and more.
#define LITHO_QUALITY_OFFSET 0.1
void litho_quality_tell_offset(const LithoNoise *noise, LithoQuality *quality);
// TRUE where that makes the mean squared error `mse` uncertain by 1.5 dB.
gboolean litho_quality_is_doubtful(const LithoNoise *noise, double mse);
