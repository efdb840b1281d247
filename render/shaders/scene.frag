// A slice in the 3-D scene. Missing traces are hatched in screen space, so the pattern never shimmers.
in vec3 v_index;
uniform vec4 u_rect;
uniform float u_height;
out vec4 frag;

void main()
{
    vec2 at = vec2(gl_FragCoord.x, u_height - gl_FragCoord.y) - u_rect.xy;
    vec3 size = fwidth(v_index);
    vec3 color;
    // Quads end at the outer edge of the outer cells; rounding must not push a pixel beyond.
    vec3 index = clamp(v_index, vec3(-0.4999), vec3(u_grid) - 0.5001);
    if (slice_color(index, vec2(size.H, size.V), at / u_scale, color) == 0)
        discard;
    frag = vec4(color, 1.0);
}
