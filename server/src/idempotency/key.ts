import { createHash } from 'node:crypto'
import { invalidRequest } from '../errors'

export const keyHeader = 'Idempotency-Key'

/** Reads the key from its header. Throws `invalid_request`. Source: contract 4.9. */
export function readKey(header: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(header)) return header
  throw invalidRequest(
    keyHeader,
    'bad_format',
    `${keyHeader} must be 1 to 255 printable ASCII characters.`,
  )
}

/**
 * Hashes the request that a key stands for: SHA-256 of the path and the parsed body, so that white space between
 * fields makes no other request.
 */
export const hashRequest = (path: string, body: object): Buffer =>
  createHash('sha256').update(`${path}\n`).update(JSON.stringify(body)).digest()

export const keyReused = () =>
  invalidRequest(
    keyHeader,
    'key_reused',
    `${keyHeader} was used for a request with another path or body. Use a new key.`,
  )
