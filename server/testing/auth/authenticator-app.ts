import { createHmac } from 'node:crypto'

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function bytesOf(text: string): Buffer {
  const bits = Array.from(text, (one) => base32.indexOf(one).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Six digits for a moment. Source: RFC 6238. */
export function codeOf(secret: string, atMs = Date.now()): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)))
  const hash = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const number = hash.readUInt32BE((hash.at(-1) ?? 0) & 15) & 0x7f_ff_ff_ff
  return String(number % 1_000_000).padStart(6, '0')
}

/** The secret in the address that an authenticator app reads. */
export const secretIn = (totpUri: unknown) =>
  new URL(String(totpUri)).searchParams.get('secret') ?? ''
