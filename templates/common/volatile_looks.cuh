// SPDX-License-Identifier: Apache-2.0
// For kernels with volatile accesses, by which threads may wait for each other. The host has a twin of this
// file.
#pragma once
