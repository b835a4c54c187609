// SPDX-License-Identifier: Apache-2.0
// Device code needs nothing for inline PTX. The host has a twin of this file, which the translation of asm
// statements calls (runtime/ptx_translation.h).
#pragma once
