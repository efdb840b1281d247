// A sheet lit from above the eye's left; the facing comes from derivatives, so sheets need no
// normals and both sides are lit alike.
in vec3 v_world;
in vec4 v_color;
uniform vec3 u_light;
out vec4 frag;

void main()
{
    vec3 normal = cross(dFdx(v_world), dFdy(v_world));
    float facing = abs(dot(normal, u_light)) / max(length(normal), 1e-20);
    frag = vec4(v_color.rgb * (0.45 + 0.55 * facing) * v_color.a, v_color.a); // premultiplied
}
