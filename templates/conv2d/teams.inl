// SPDX-License-Identifier: Apache-2.0
// The sizes of a block of warpgroup.cu or warpgroup_any.cu, and of its tiles. Needs TEAMS, GROUPS, ROWS,
// RESIDENT_WARPS and common/resident_blocks.cuh.

// A team consists of neighbouring warpgroups and has a tile of its own. The teams of a block share the
// weights and take turns at products, so that each stages its samples and stores its outputs while another
// one multiplies.
constexpr int team_threads = 128 * GROUPS;
constexpr int threads = TEAMS * team_threads;
constexpr int team_warps = team_threads / 32, warps = threads / 32;
constexpr int resident_threads = resident_blocks(RESIDENT_WARPS, threads) * threads;
constexpr int tile_width = 64 * GROUPS;
constexpr int tile_height = 8 * ROWS;
