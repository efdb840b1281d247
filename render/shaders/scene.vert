// A slice in the 3-D scene: four corners in index coordinates.
uniform mat4 u_matrix;
uniform vec3 u_corner[4];
out vec3 v_index;

void main()
{
    v_index = u_corner[gl_VertexID];
    gl_Position = u_matrix * vec4(v_index, 1.0);
}
