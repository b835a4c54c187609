// SPDX-License-Identifier: Apache-2.0
// For kernels with "__shared__ alignas(16) float x[N]", which only the host cannot compile as it stands. The
// host has a twin of this file.
#pragma once
