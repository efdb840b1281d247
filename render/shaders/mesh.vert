layout(location = 0) in vec3 a_position; // fractional indices
layout(location = 1) in vec4 a_color;    // straight alpha; constant for meshes of one colour
uniform mat4 u_matrix;
uniform mat4 u_world;
out vec3 v_world;
out vec4 v_color;

void main()
{
    v_world = (u_world * vec4(a_position, 1.0)).xyz;
    v_color = a_color;
    gl_Position = u_matrix * vec4(a_position, 1.0);
}
