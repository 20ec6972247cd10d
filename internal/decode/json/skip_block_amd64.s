#include "textflag.h"

// MASK sets the bits of into where bytes of the block, in a and b, are those of c.
#define MASK(a, b, c, into) \
	VPCMPEQB  a, c, Y6  \
	VPMOVMSKB Y6, into  \
	VPCMPEQB  b, c, Y6  \
	VPMOVMSKB Y6, R11   \
	SHLQ      $32, R11  \
	ORQ       R11, into

// BROADCAST sets all bytes of y to a constant.
#define BROADCAST(c, x, y) \
	MOVL         $c, AX \
	VMOVQ        AX, x  \
	VPBROADCASTB x, y

// func blockMasks(data *byte, inside uint64) (opens, closes, after uint64, escapes uint32)
TEXT ·blockMasks(SB), NOSPLIT, $0-44
	MOVQ    data+0(FP), SI
	MOVQ    inside+8(FP), R9
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5

	BROADCAST(0x5c, X0, Y0) // backslash
	VPCMPEQB  Y4, Y0, Y6
	VPCMPEQB  Y5, Y0, Y7
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y6, AX
	MOVL      AX, escapes+40(FP)

	BROADCAST(0x22, X0, Y0) // quote
	MASK(Y4, Y5, Y0, R12)

	// The product with all ones, without carries, has a bit where an odd number of
	// quotes is up to there.
	VPCMPEQB   X3, X3, X3
	VMOVQ      R12, X6
	VPCLMULQDQ $0, X3, X6, X6
	VMOVQ      X6, R12
	XORQ       R9, R12
	MOVQ       R12, R9
	SARQ       $63, R9
	MOVQ       R9, after+32(FP)
	NOTQ       R12

	// With this bit, square brackets become braces, and nothing else does.
	BROADCAST(0x20, X0, Y0)
	VPOR      Y4, Y0, Y4
	VPOR      Y5, Y0, Y5
	BROADCAST(0x7b, X0, Y0)
	MASK(Y4, Y5, Y0, R10)
	ANDQ      R12, R10
	MOVQ      R10, opens+16(FP)
	BROADCAST(0x7d, X0, Y0)
	MASK(Y4, Y5, Y0, R10)
	ANDQ      R12, R10
	MOVQ      R10, closes+24(FP)
	VZEROUPPER
	RET
