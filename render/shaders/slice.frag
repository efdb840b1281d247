// A flat slice: one fragment, one pixel of the picture. Wiggles are computed per pixel too, so they
// cost the same at every zoom and need no geometry.

uniform vec4 u_rect;    // left, top, width, height of the panel in device pixels, y down
uniform float u_height; // of the framebuffer, device pixels
uniform vec4 u_window;  // indices at left, right, top, bottom
uniform int u_slice;
uniform bool u_density;
uniform int u_wiggle;   // 1 curves, 2 curves and filled positive side
uniform int u_step;     // traces between two wiggles
uniform float u_deflect; // device pixels per amplitude
uniform float u_limit;   // largest deflection, device pixels

out vec4 frag;

const vec3 PAPER = vec3(0.965);
const vec3 INK = vec3(0.04);

#if WIGGLES
// Deflection of the trace in `c` at sample position `s`; FALSE without usable samples.
bool deflection(ivec3 c, float s, float gain, out float d)
{
    float base = clamp(floor(s), 0.0, float(u_grid.z - 1));
    c.z = int(base);
    ivec3 next = ivec3(c.xy, min(c.z + 1, u_grid.z - 1));
    d = 0.0;
    if (!inside(c, u_cover_lo, u_cover_hi) || !inside(next, u_cover_lo, u_cover_hi))
        return false;
    float a = value_at(c), b = value_at(next);
    d = clamp(mix(a, b, clamp(s - base, 0.0, 1.0)) * u_deflect * gain, -u_limit, u_limit);
    return finite(a) && finite(b);
}

// Gain of the trace in `c` at sample position `s`.
float gain_between(ivec3 c, float s)
{
    float base = clamp(floor(s), 0.0, float(u_grid.z - 1));
    c.z = int(base);
    ivec3 next = ivec3(c.xy, min(c.z + 1, u_grid.z - 1));
    return mix(trace_gain(c), trace_gain(next), clamp(s - base, 0.0, 1.0));
}

// Ink of one wiggle at `x` device pixels right of its base line.
float wiggle_ink(ivec3 c, float s, float size, float x)
{
    float low = 1e30, high = -1e30, d;
    float gain = gain_between(c, s);
    // The curve crosses a pixel's row between its upper and lower edge; samples in between count.
    int n = clamp(int(ceil(size)), 1, 8);
    for (int k = 0; k <= n; k++) {
        if (!deflection(c, s + (float(k) / float(n) - 0.5) * size, gain, d))
            return 0.0;
        low = min(low, d);
        high = max(high, d);
    }
    float ink = 0.9 * clamp(0.5 * u_scale + 0.5 - max(low - x, x - high), 0.0, 1.0);
    if (u_wiggle == 2 && deflection(c, s, gain, d) && d > 0.0)
        ink = max(ink, 0.8 * clamp(min(x, d - x) + 0.5, 0.0, 1.0));
    return ink;
}

float wiggles(vec3 index, vec2 size)
{
    if (index.z < -0.5 || index.z > float(u_grid.z) - 0.5)
        return 0.0;
    int nearest = int(floor(index.H / float(u_step) + 0.5));
    float ink = 0.0;
    for (int k = -2; k <= 2; k++) {
        ivec3 c = ivec3(floor(index + 0.5));
        c.H = (nearest + k) * u_step;
        c.z = clamp(c.z, u_cover_lo.z, u_cover_hi.z - 1);
        if (!inside(c, u_cover_lo, u_cover_hi) || !live_at(c))
            continue;
        float x = (index.H - float(c.H)) / size.x;
        ink = max(ink, wiggle_ink(c, index.z, size.y, x));
    }
    return ink;
}
#endif

void main()
{
    vec2 at = vec2(gl_FragCoord.x, u_height - gl_FragCoord.y) - u_rect.xy;
    vec3 index = vec3(u_slice);
    index.H = mix(u_window.x, u_window.y, at.x / u_rect.z);
    index.V = mix(u_window.z, u_window.w, at.y / u_rect.w);
    vec2 size = abs(vec2(u_window.y - u_window.x, u_window.w - u_window.z)) / u_rect.zw;

    vec3 color;
    int found = slice_color(index, size, at / u_scale, color);
    if (found == 2 && !u_density)
        color = PAPER;
    float ink = 0.0;
#if WIGGLES
    ink = wiggles(index, size);
#endif
    if (found == 0 && ink == 0.0)
        discard;
    // Wiggles at the edge reach beyond the data; there they lie over what is already drawn.
    frag = found == 0 ? vec4(INK, 1.0) * ink : vec4(mix(color, INK, ink), 1.0);
}
