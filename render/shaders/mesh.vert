layout(location = 0) in vec3 a_position; // fractional indices
uniform mat4 u_matrix;
uniform mat4 u_world;
out vec3 v_world;

void main()
{
    v_world = (u_world * vec4(a_position, 1.0)).xyz;
    gl_Position = u_matrix * vec4(a_position, 1.0);
}
