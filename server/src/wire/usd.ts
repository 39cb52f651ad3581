/** Nano-dollars as USD, the number that JSON shows. */
export const toUsd = (nanos: bigint) => Number(nanos) / 1e9
