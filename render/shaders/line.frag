// Round ends: distance to the segment, one pixel of soft edge.
in vec2 v_at;
in float v_length;
uniform float u_width;
in vec4 v_color;
out vec4 frag;

void main()
{
    vec2 outside = vec2(v_at.x - clamp(v_at.x, 0.0, v_length), v_at.y);
    float cover = clamp(0.5 * u_width + 0.5 - length(outside), 0.0, 1.0);
    if (cover <= 0.0)
        discard;
    frag = vec4(v_color.rgb, 1.0) * (v_color.a * cover); // premultiplied
}
