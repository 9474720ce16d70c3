/* SPDX-License-Identifier: Apache-2.0
 * Where in struct Thread assembly finds things; area.c checks them. */
#pragma once

#define FATHOM_EPOCH 0
#define FATHOM_VFORKED 40
