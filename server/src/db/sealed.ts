import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const version = 1
const keyIdBytes = 4
const ivBytes = 12
const tagBytes = 16

/** Which key sealed something, without saying anything about the key. */
const keyIdOf = (key: Buffer) =>
  createHash('sha256').update('tollgate key id').update(key).digest().subarray(0, keyIdBytes)

/**
 * Encrypts a secret for a column: AES-256-GCM under a 32-byte key. `owner` names the row, and is
 * needed to open it: a value copied into another row does not open there.
 */
export function seal(secret: string, key: Buffer, owner: string): Buffer {
  const iv = randomBytes(ivBytes)
  const head = Buffer.concat([Buffer.from([version]), keyIdOf(key)])
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(
    Buffer.concat([head, Buffer.from(owner)]),
  )
  const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
  return Buffer.concat([head, iv, cipher.getAuthTag(), body])
}

/** Opens what `seal` made. Throws when the key, the owner or a byte is another one. */
export function unseal(sealed: Buffer, key: Buffer, owner: string): string {
  const head = sealed.subarray(0, 1 + keyIdBytes)
  if (head[0] !== version || !head.subarray(1).equals(keyIdOf(key))) {
    throw new Error('This secret was sealed with another ENCRYPTION_KEY.')
  }
  const iv = sealed.subarray(head.length, head.length + ivBytes)
  const tag = sealed.subarray(head.length + ivBytes, head.length + ivBytes + tagBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, iv)
    .setAAD(Buffer.concat([head, Buffer.from(owner)]))
    .setAuthTag(tag)
  const body = sealed.subarray(head.length + ivBytes + tagBytes)
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
}
