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

/** Whether this key sealed it; says nothing about damage. */
export const isSealedWith = (sealed: Buffer, key: Buffer) =>
  sealed.subarray(1, 1 + keyIdBytes).equals(keyIdOf(key))

/** Opens what `seal` made. Throws when the key, the owner or a byte is another one. */
export function unseal(sealed: Buffer, key: Buffer, owner: string): string {
  const head = sealed.subarray(0, 1 + keyIdBytes)
  if (head[0] !== version || !isSealedWith(sealed, key)) {
    throw new Error('This secret was sealed with another ENCRYPTION_KEY.')
  }
  const iv = sealed.subarray(head.length, head.length + ivBytes)
  const tag = sealed.subarray(head.length + ivBytes, head.length + ivBytes + tagBytes)
  // Without its length a shortened tag would do, and four bytes can be guessed.
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(Buffer.concat([head, Buffer.from(owner)]))
    .setAuthTag(tag)
  const body = sealed.subarray(head.length + ivBytes + tagBytes)
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
}
