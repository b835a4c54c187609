// SPDX-License-Identifier: Apache-2.0
// The barriers of a block's teams, for warpgroup.cu and warpgroup_any.cu. Needs TEAMS, `team_threads` and
// common/warpgroup.cuh.

// A team has two barriers: its own, and the one of its turn.
__device__ __forceinline__ void sync_team(int team) {
  if constexpr (TEAMS > 1) {
    sync<team_threads>(1 + team);
  } else {
    __syncthreads();
  }
}
__device__ __forceinline__ void wait_for_turn(int team) {
  if constexpr (TEAMS > 1) sync<2 * team_threads>(1 + TEAMS + team);
}
__device__ __forceinline__ void give_turn(int team) {
  if constexpr (TEAMS > 1) arrive<2 * team_threads>(1 + TEAMS + team);
}

// Passes the turn to the next team; after the `last` tiles, to none.
__device__ __forceinline__ void pass_turn(int team, bool last) {
  if (team < TEAMS - 1) {
    give_turn(team + 1);
  } else if (!last) {
    give_turn(0);
  }
}
