#include "textflag.h"

// EMIT appends the offset of the lowest bit of R10 and clears the bit.
#define EMIT(at) \
	TZCNTQ R10, R11  \
	ADDL   DX, R11   \
	MOVL   R11, (at)(BX) \
	BLSRQ  R10, R10

// func fieldEndsAVX2(data *byte, windows int, base uint32, delimiter, newline, quote byte, ends *uint32, inside, quoted uint64) (found int, after uint64)
TEXT ·fieldEndsAVX2(SB), NOSPLIT, $0-64
	MOVQ         data+0(FP), SI
	MOVQ         windows+8(FP), CX
	MOVL         base+16(FP), DX
	MOVBLZX      delimiter+20(FP), AX
	VMOVQ        AX, X0
	VPBROADCASTB X0, Y0
	MOVBLZX      newline+21(FP), AX
	VMOVQ        AX, X1
	VPBROADCASTB X1, Y1
	MOVBLZX      quote+22(FP), AX
	VMOVQ        AX, X2
	VPBROADCASTB X2, Y2
	MOVQ         ends+24(FP), DI
	MOVQ         DI, R8
	MOVQ         inside+32(FP), R9
	MOVQ         quoted+40(FP), AX
	VMOVQ        AX, X3

window:
	VMOVDQU   (SI), Y4
	VMOVDQU   32(SI), Y5

	// R10 has a bit for each delimiter and line end, R12 one for each quote.
	VPCMPEQB  Y4, Y0, Y6
	VPCMPEQB  Y4, Y1, Y7
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y6, R10
	VPCMPEQB  Y5, Y0, Y6
	VPCMPEQB  Y5, Y1, Y7
	VPOR      Y6, Y7, Y6
	VPMOVMSKB Y6, R11
	SHLQ      $32, R11
	ORQ       R11, R10
	VPCMPEQB  Y4, Y2, Y6
	VPMOVMSKB Y6, R12
	VPCMPEQB  Y5, Y2, Y6
	VPMOVMSKB Y6, R11
	SHLQ      $32, R11
	ORQ       R11, R12

	// The product with all ones, without carries, has a bit where an odd number of
	// quotes is up to there. Without quotes it is the product with zero.
	VMOVQ      R12, X6
	VPCLMULQDQ $0, X3, X6, X6
	VMOVQ      X6, R12
	XORQ       R9, R12
	MOVQ       R12, R9
	SARQ       $63, R9
	NOTQ       R12
	ANDQ       R12, R10

	POPCNTQ R10, R13
	MOVQ    DI, BX

eight:
	EMIT(0)
	EMIT(4)
	EMIT(8)
	EMIT(12)
	EMIT(16)
	EMIT(20)
	EMIT(24)
	EMIT(28)
	ADDQ  $32, BX
	TESTQ R10, R10
	JNZ   eight

	LEAQ (DI)(R13*4), DI
	ADDL $64, DX
	ADDQ $64, SI
	DECQ CX
	JNZ  window

	VZEROUPPER
	SUBQ R8, DI
	SHRQ $2, DI
	MOVQ DI, found+48(FP)
	MOVQ R9, after+56(FP)
	RET
