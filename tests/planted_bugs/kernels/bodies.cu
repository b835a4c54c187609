// SPDX-License-Identifier: Apache-2.0
// Bodies on a chain of springs, of which two threads each set some members, and a record of what they do, which two
// further launches make.
/* tunesmith
[problem]
n = [1, 1000000]
steps = [1, 100]

[arrays]
start = ["n"]
end = { extents = ["n"], role = "output" }
between = { extents = ["n"], role = "workspace" }
parts = { extents = ["ceil_div(n, BLOCK * ITEMS)"], role = "workspace" }
record = { extents = [1], role = "output" }

[axes]
BLOCK = [64, 128]
ITEMS = [1, 4]
STEPS = [1, 3]

[[launch]]
kernel = "move"
repeat = "ceil_div(steps, STEPS)"
swap = { from = "start", to = "end", spare = "between" }
grid = "ceil_div(2 * n, BLOCK - 4 * STEPS)"
block = "BLOCK"
arguments = ["start", "end", "n", "min(STEPS, steps - step * STEPS)"]

[[launch]]
kernel = "measure"
grid = "ceil_div(n, BLOCK * ITEMS)"
block = "BLOCK"
arguments = ["end", "parts", "n"]

[[launch]]
kernel = "collect"
grid = 1
block = 1
arguments = ["parts", "record", "ceil_div(n, BLOCK * ITEMS)"]

[reference]
kernel = "all_plain"
grid = 1
block = 1
arguments = ["start", "end", "record", "n", "steps"]
*/
#define BLOCK 64
#define ITEMS 1
#define STEPS 1
struct Body {
  float4 place;  // and mass
  float speed[3];
  short kind;
  double work;
};
struct Record {
  double work;
  float least, most;
  int of_kind[2];
};
constexpr float dt = 0.125f;
__device__ float force(float left, float own, float right) { return left - 2 * own + right; }

__global__ void move(const Body* before, Body* after, int n, int steps) {
  __shared__ Body body[2][BLOCK / 2];
  const int own = threadIdx.x / 2, half = threadIdx.x % 2;
  const int i = (int)(blockIdx.x * (BLOCK / 2 - 2 * STEPS)) + own - STEPS;
  const bool is_inside = i >= 0 && i < n;
  if (half == 0) {
    body[0][own] = is_inside ? before[i] : Body{};
    body[1][own] = body[0][own];
  }
  __syncthreads();
  for (int s = 0; s < steps; ++s) {
    const Body& old = body[s % 2][own];
    Body& made = body[(s + 1) % 2][own];
    if (half == 0 && is_inside) {
      made.place.x = old.place.x + dt * old.speed[0];
      made.place.y = old.place.y + dt * old.speed[1];
      made.place.z = old.place.z + dt * old.speed[2];
      made.place.w = old.place.w;
      made.kind = old.kind;
    }
    if (half == 1 && is_inside) {
      const float4 left = body[s % 2][max(own - 1, 0)].place, right = body[s % 2][min(own + 1, BLOCK / 2 - 1)].place;
      const float fx = force(left.x, old.place.x, right.x), fy = force(left.y, old.place.y, right.y),
                  fz = force(left.z, old.place.z, right.z);
      made.speed[0] = old.speed[0] + dt * fx;
      made.speed[1] = old.speed[1] + dt * fy;
      made.speed[2] = old.speed[2] + dt * fz;
      made.work = old.work + dt * ((double)fx * old.speed[0] + (double)fy * old.speed[1] + (double)fz * old.speed[2]);
    }
    __syncthreads();
  }
  if (half == 0 && is_inside && own >= STEPS && own < BLOCK / 2 - STEPS) after[i] = body[steps % 2][own];
}

__device__ void add(Record& to, const Record& one) {
  to.work += one.work;
  to.least = fminf(to.least, one.least);
  to.most = fmaxf(to.most, one.most);
  for (int k = 0; k < 2; ++k) to.of_kind[k] += one.of_kind[k];
}
__device__ Record record_of(const Body& body) {
  Record one = {body.work, body.place.x, body.place.x, {0, 0}};
  one.of_kind[body.kind & 1] = 1;
  return one;
}
__device__ Record nothing() { return {0, INFINITY, -INFINITY, {0, 0}}; }

__global__ void measure(const Body* bodies, Record* parts, int n) {
  __shared__ Record all[BLOCK];
  Record own = nothing();
  for (int k = 0; k < ITEMS; ++k) {
    const int i = (blockIdx.x * ITEMS + k) * BLOCK + threadIdx.x;
    if (i < n) add(own, record_of(bodies[i]));
  }
  all[threadIdx.x] = own;
  __syncthreads();
  for (int h = BLOCK / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) add(all[threadIdx.x], all[threadIdx.x + h]);
    __syncthreads();
  }
  if (threadIdx.x == 0) parts[blockIdx.x] = all[0];
}
__global__ void collect(const Record* parts, Record* record, int count) {
  Record all = nothing();
  for (int i = 0; i < count; ++i) add(all, parts[i]);
  *record = all;
}

__global__ void all_plain(const Body* start, Body* end, Record* record, int n, int steps) {
  for (int i = 0; i < n; ++i) end[i] = start[i];
  for (int s = 0; s < steps; ++s) {
    float4 left = make_float4(0, 0, 0, 0);
    for (int i = 0; i < n; ++i) {
      const Body old = end[i];
      const float4 right = i + 1 < n ? end[i + 1].place : make_float4(0, 0, 0, 0);
      Body made = old;
      const float* from[3] = {&left.x, &old.place.x, &right.x};
      float* to = &made.place.x;
      for (int k = 0; k < 3; ++k) {
        const float f = force(from[0][k], from[1][k], from[2][k]);
        to[k] += dt * old.speed[k];
        made.speed[k] += dt * f;
        made.work += (double)dt * f * old.speed[k];
      }
      left = old.place;
      end[i] = made;
    }
  }
  Record all = nothing();
  for (int i = 0; i < n; ++i) add(all, record_of(end[i]));
  *record = all;
}
