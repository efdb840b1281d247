// Samples of a slice to colours; shared by the flat slices and the 3-D scene. Its twin on the CPU is
// raster.c: a change here is a change there.
//
// A cube arrives as a 3-D texture (x = sample, y = crossline, z = inline) or, beyond the texture
// limits, as rows of a 2-D texture (linear index, sample fastest). Everything is read with
// texelFetch: interpolation here leaves out missing traces and NaN.
//
// Compiled in variants, because software rasterisers execute both sides of a branch:
//   WHAT      0 input (a), 1 output (b), 2 removed (a - b)
//   FOLD_A/B  1 = the 2-D layout
//   MASKED    0 = all traces are live, the masks are not read
//   WIGGLES   1 = wiggles over (or instead of) the section
//   H, V      x, y or z: axes to the right and downwards
//   GAINED    1 = a gain that changes along the trace
//   MEAN      0 nearest cell, 1 linear (pixels no larger than samples), 2 by size

uniform sampler3D u_volume_a, u_volume_b;
uniform sampler2D u_flat_a, u_flat_b;
uniform sampler2D u_live_a, u_live_b;     // one byte a trace, linear index in rows
uniform ivec3 u_lo_a, u_lo_b;             // first inline, crossline, sample of the texture
uniform ivec3 u_n_a, u_n_b;               // and how many
uniform ivec3 u_grid;                     // samples of the whole cube
uniform ivec3 u_cover_lo, u_cover_hi;     // what has arrived, half open
uniform vec2 u_range;                     // amplitudes at the ends of the map
uniform sampler2D u_map;
uniform vec3 u_time_gain;                 // power, first, middle: ((sample + first) / middle)^power
uniform int u_agc;                        // half the window of the automatic gain; 0 = none
uniform float u_agc_level;
uniform float u_scale;                    // device pixels per logical pixel
uniform vec3 u_background;

const int GAIN_TAPS = 33;
const int MAX_TAPS = 4; // samples averaged per direction when zoomed out, at most
const vec3 HATCH_GROUND = vec3(0.27);
const vec3 HATCH_LINE = vec3(0.43);

// Infinities and NaN by their bits would need GLSL 3.30; comparisons are enough here.
bool finite(float v)
{
    return v == v && abs(v) < 3.0e38;
}

bool inside(ivec3 c, ivec3 lo, ivec3 hi)
{
    return all(greaterThanEqual(c, lo)) && all(lessThan(c, hi));
}

float fetch(sampler2D flat_, ivec3 p, ivec3 n)
{
    int width = textureSize(flat_, 0).x, at = (p.x * n.y + p.y) * n.z + p.z;
    return texelFetch(flat_, ivec2(at % width, at / width), 0).r;
}

float value_a(ivec3 c)
{
#if FOLD_A
    return fetch(u_flat_a, c - u_lo_a, u_n_a);
#else
    return texelFetch(u_volume_a, (c - u_lo_a).zyx, 0).r;
#endif
}

float value_b(ivec3 c)
{
#if FOLD_B
    return fetch(u_flat_b, c - u_lo_b, u_n_b);
#else
    return texelFetch(u_volume_b, (c - u_lo_b).zyx, 0).r;
#endif
}

float value_at(ivec3 c)
{
#if WHAT == 0
    return value_a(c);
#elif WHAT == 1
    return value_b(c);
#else
    return value_a(c) - value_b(c);
#endif
}

bool live_at(ivec3 c)
{
    bool live = true;
#if MASKED
    int at = c.x * u_grid.y + c.y;
#if WHAT != 1
    int width = textureSize(u_live_a, 0).x;
#else
    int width = textureSize(u_live_b, 0).x;
#endif
    ivec2 p = ivec2(at % width, at / width);
#if WHAT != 1
    live = texelFetch(u_live_a, p, 0).r > 0.5;
#endif
#if WHAT != 0
    live = live && texelFetch(u_live_b, p, 0).r > 0.5;
#endif
#endif
    return live;
}

// Gain of the sample in `c`, for the eye; see LithoTraceGain.
float trace_gain(ivec3 c)
{
#if GAINED
    if (u_agc == 0)
        return pow(max(float(c.z) + u_time_gain.y, 0.5) / u_time_gain.z, u_time_gain.x);
    float sum = 0.0, count = 0.0;
    int middle = c.z;
    for (int k = 0; k < GAIN_TAPS; k++) {
        c.z = middle - u_agc + k * 2 * u_agc / (GAIN_TAPS - 1);
        if (c.z < u_cover_lo.z || c.z >= u_cover_hi.z)
            continue;
        float s = value_at(c);
        if (finite(s)) {
            sum += s * s;
            count += 1.0;
        }
    }
    return sum > 0.0 ? u_agc_level * inversesqrt(sum / count) : 1.0;
#else
    return 1.0;
#endif
}

// Samples along one direction that a pixel of `size` samples at `p` averages: two with linear
// weights when it is smaller than a sample, evenly spread ones when it is larger.
int tap_count(float size)
{
#if MEAN < 2
    return MEAN + 1;
#else
    return size <= 1.05 ? 2 : clamp(int(ceil(size - 0.05)), 2, MAX_TAPS);
#endif
}

float tap(float p, float size, int count, int k, out int cell)
{
#if MEAN == 0
    cell = int(floor(p + 0.5));
    return 1.0;
#endif
    if (MEAN == 1 || size <= 1.05) {
        float base = floor(p);
        cell = int(base) + k;
        return k == 0 ? 1.0 - (p - base) : p - base;
    }
    cell = int(floor(p + ((float(k) + 0.5) / float(count) - 0.5) * size + 0.5));
    return 1.0;
}

// Weighted mean of the usable samples around `index`; FALSE when there is none.
bool sample_mean(vec3 index, vec2 size, out float mean)
{
    ivec3 c = ivec3(floor(index + 0.5));
    int nh = tap_count(size.x), nv = tap_count(size.y);
    float sum = 0.0, weight = 0.0;
    for (int a = 0; a < nh; a++) {
        int h, v;
        float wh = tap(index.H, size.x, nh, a, h);
        c.H = h;
        if (wh == 0.0 || h < u_cover_lo.H || h >= u_cover_hi.H)
            continue;
        for (int b = 0; b < nv; b++) {
            float w = wh * tap(index.V, size.y, nv, b, v);
            c.V = v;
            if (w == 0.0 || !inside(c, u_cover_lo, u_cover_hi) || !live_at(c))
                continue;
            float s = value_at(c);
            if (finite(s)) {
                sum += w * s;
                weight += w;
            }
        }
    }
    mean = sum / max(weight, 1e-30);
    return weight > 0.0;
}

vec3 map_color(float value)
{
    float t = clamp((value - u_range.x) / (u_range.y - u_range.x), 0.0, 1.0) * 255.0;
    int k = min(int(t), 254);
    return mix(texelFetch(u_map, ivec2(k, 0), 0).rgb, texelFetch(u_map, ivec2(k + 1, 0), 0).rgb,
               t - float(k));
}

// Diagonals 8 logical pixels apart; `at` is in logical pixels from the rectangle's top left.
vec3 hatch_color(vec2 at)
{
    float across = abs(mod(at.x + at.y, 8.0) - 4.0) * 0.70710678 * u_scale;
    return mix(HATCH_GROUND, HATCH_LINE, clamp(0.6 * u_scale + 0.5 - across, 0.0, 1.0));
}

// Colour of the slice at `index`; 0 = not there (yet), 1 = missing trace, 2 = data.
int slice_color(vec3 index, vec2 size, vec2 at, out vec3 color)
{
    ivec3 c = ivec3(floor(index + 0.5));
    color = u_background;
    if (!inside(c, u_cover_lo, u_cover_hi))
        return 0;
    color = hatch_color(at);
    float value;
    if (!live_at(c) || !finite(value_at(c)) || !sample_mean(index, size, value))
        return 1;
    color = map_color(value * trace_gain(c));
    return 2;
}
