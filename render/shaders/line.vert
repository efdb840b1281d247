// Lines and dots of constant width on screen: each segment is two triangles, widened here.
layout(location = 0) in vec3 a_from;
layout(location = 1) in vec3 a_to;
layout(location = 2) in vec2 a_corner; // along 0 or 1, across -1 or 1
layout(location = 3) in vec4 a_color;  // straight alpha; constant for lines of one colour

uniform mat4 u_matrix;
uniform vec2 u_viewport; // device pixels
uniform float u_width;   // device pixels
uniform float u_bias;    // towards the eye, so that a line on a slice is seen
out vec2 v_at;           // device pixels from the segment's start: along, across
out float v_length;
out vec4 v_color;

const float NEAR = 1e-3;

void main()
{
    v_color = a_color;
    vec4 a = u_matrix * vec4(a_from, 1.0), b = u_matrix * vec4(a_to, 1.0);
    if (a.w < NEAR && b.w >= NEAR)
        a = mix(a, b, (NEAR - a.w) / (b.w - a.w));
    else if (b.w < NEAR && a.w >= NEAR)
        b = mix(b, a, (NEAR - b.w) / (a.w - b.w));
    vec2 p = a.xy / a.w * 0.5 * u_viewport, q = b.xy / b.w * 0.5 * u_viewport;
    vec2 d = q - p;
    v_length = length(d);
    vec2 along = v_length > 1e-4 ? d / v_length : vec2(1.0, 0.0), across = vec2(-along.y, along.x);
    float reach = 0.5 * u_width + 1.0;
    v_at = vec2(a_corner.x > 0.5 ? v_length + reach : -reach, a_corner.y * reach);
    vec4 end = a_corner.x > 0.5 ? b : a;
    vec2 pixel = p + along * v_at.x + across * v_at.y;
    gl_Position = vec4(pixel / (0.5 * u_viewport) * end.w, end.z - u_bias * end.w, end.w);
}
