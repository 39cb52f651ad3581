/** Nano-dollars as USD, the number that JSON shows. */
export const toUsd = (nanos: bigint) => Number(nanos) / 1e9

/** Nano-dollars as USD in plain decimal digits, for a header. */
export function plainUsd(nanos: bigint): string {
  const digits = String(nanos).padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/\.?0+$/, '')
}
