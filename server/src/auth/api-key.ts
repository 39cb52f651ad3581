import { crc32 } from 'node:zlib'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 43
const checksumLength = 6
const shape = /^sk-tg-[0-9A-Za-z]{49}$/
/** The shape of a self-hosted gateway's token; its end is a checksum. */
export const gatewayTokenShape = /^gt-tg-[0-9A-Za-z]{49}$/
/** The length of a key before its checksum; both prefixes have the same length. */
const bodyLength = 'sk-tg-'.length + secretLength

/** Returns the CRC-32 in 6 base-62 digits, which detects typing errors without a lookup. */
function checksum(text: string): string {
  let remainder = crc32(text)
  let digits = ''
  for (let index = 0; index < checksumLength; index++) {
    digits = (base62[remainder % 62] ?? '') + digits
    remainder = Math.floor(remainder / 62)
  }
  return digits
}

/** Whether a key ends with its checksum: digit by digit, as every request checks it. */
function hasChecksum(key: string): boolean {
  let remainder = crc32(key.slice(0, bodyLength))
  for (let at = bodyLength + checksumLength - 1; at >= bodyLength; at--) {
    if (key[at] !== base62[remainder % 62]) return false
    remainder = Math.floor(remainder / 62)
  }
  return true
}

/**
 * Creates a service key: `sk-tg-`, 43 base-62 characters from 256 random bits, 6 of checksum.
 * Source: contract 2.2.
 */
export const newApiKey = () => newSecret('sk-tg-')

/** Creates a token of a self-hosted gateway: the same with `gt-tg-`. */
export const newGatewayToken = () => newSecret('gt-tg-')

/** Creates a token of a SCIM directory: the same with `sc-tg-`. */
export const newDirectoryToken = () => newSecret('sc-tg-')

function newSecret(prefix: 'sk-tg-' | 'gt-tg-' | 'sc-tg-'): string {
  let number = BigInt(
    `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`,
  )
  let secret = ''
  for (let index = 0; index < secretLength; index++) {
    secret = (base62[Number(number % 62n)] ?? '') + secret
    number /= 62n
  }
  return prefix + secret + checksum(prefix + secret)
}

/** Whether a text has the shape and the checksum of a key. */
export const isWellFormed = (key: string) => shape.test(key) && hasChecksum(key)

/** Whether a text has the shape and the checksum of a self-hosted gateway's token. */
export const isGatewayToken = (token: string) => gatewayTokenShape.test(token) && hasChecksum(token)

/** Returns the hash that is stored and looked up in place of a key: its SHA-256 in hexadecimal. */
export const hashOf = (key: string) => Bun.SHA256.hash(key, 'hex')

/** Returns the part of a key that is shown to tell keys apart. */
export const keyPrefix = (key: string) => key.slice(0, 12)
