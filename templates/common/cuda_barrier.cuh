// SPDX-License-Identifier: Apache-2.0
// Replaces <cuda/barrier>, which a described kernel includes itself on the device. The host has a twin of
// this file.
#pragma once
