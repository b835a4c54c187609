// SPDX-License-Identifier: Apache-2.0
// Replaces <cooperative_groups.h>, which a described kernel includes itself on the device. The host has a
// twin of this file.
#pragma once
