import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** A key that wraps the data keys of secrets. */
export interface SealingKey {
  /** What stored secrets name it by. */
  id: string
  /** 32 bytes. */
  key: Buffer
}

/** The first seals, all of them open. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]]

/** Where a sealed value stands: it opens nowhere else. */
export interface SealedAt {
  table: string
  row: string
  column: string
}

/** Sealed with data keys of their own; the first version had none. */
const version = 2
const firstVersion = 1
const fingerprintBytes = 4
const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
/** What is wrapped: the data key, behind its nonce and tag. */
const wrappedBytes = ivBytes + tagBytes + keyBytes

/** Tells keys apart without saying anything about them; what a key is called that was given no name. */
export const fingerprintOf = (key: Buffer) =>
  createHash('sha256').update('tollgate key id').update(key).digest().subarray(0, fingerprintBytes)

/** Encrypted with AES-256-GCM: nonce, tag, text. */
function encrypt(plain: Buffer, key: Buffer, bound: Buffer): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bound)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

/** Throws when the key, what it is bound to, or a byte is another one. */
function decrypt(encrypted: Buffer, key: Buffer, bound: Buffer): Buffer {
  const iv = encrypted.subarray(0, ivBytes)
  const tag = encrypted.subarray(ivBytes, ivBytes + tagBytes)
  // Without its length a shortened tag would do, and four bytes can be guessed.
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(bound)
    .setAuthTag(tag)
  return Buffer.concat([decipher.update(encrypted.subarray(ivBytes + tagBytes)), decipher.final()])
}

/** No part of it holds a zero character, so that no two places are written alike. */
const bound = (...parts: string[]) => Buffer.from([String(version), ...parts].join('\0'))

const boundTo = ({ table, row, column }: SealedAt) => bound(table, row, column)
const wrappedFor = (keyId: string, { table, row, column }: SealedAt) =>
  bound(keyId, table, row, column)

/** Version, the key's id behind its length, the wrapped data key, the encrypted secret. */
const assemble = (keyId: string, wrapped: Buffer, body: Buffer) => {
  const name = Buffer.from(keyId)
  return Buffer.concat([Buffer.from([version, name.length]), name, wrapped, body])
}

/**
 * Encrypts a secret for a column: AES-256-GCM under a key of its own, which is wrapped by the first
 * of `keys`. Bound to its place: a value copied into another row, or another column, does not open.
 */
export function seal(secret: string, [current]: SealingKeys, at: SealedAt): Buffer {
  const dataKey = randomBytes(keyBytes)
  const wrapped = encrypt(dataKey, current.key, wrappedFor(current.id, at))
  return assemble(current.id, wrapped, encrypt(Buffer.from(secret), dataKey, boundTo(at)))
}

/** The id of the key that sealed something, as far as it says so. */
export function getKeyId(sealed: Buffer): string {
  if (sealed[0] === firstVersion) return sealed.subarray(1, 1 + fingerprintBytes).toString('hex')
  return sealed.subarray(2, 2 + (sealed[1] ?? 0)).toString('utf8')
}

/** A key that was given a name later is still known by its fingerprint. */
function keyOf(sealed: Buffer, keys: SealingKeys): SealingKey {
  const id = getKeyId(sealed)
  const found =
    keys.find((known) => known.id === id) ??
    keys.find(({ key }) => fingerprintOf(key).toString('hex') === id)
  if (found) return found
  throw new Error(`This secret was sealed with the key "${id}", which ENCRYPTION_KEY lacks.`)
}

/** The data key, and what it encrypted. */
function unwrap(sealed: Buffer, keys: SealingKeys, at: SealedAt) {
  const { key } = keyOf(sealed, keys)
  const id = getKeyId(sealed)
  const start = 2 + (sealed[1] ?? 0)
  const wrapped = sealed.subarray(start, start + wrappedBytes)
  return {
    dataKey: decrypt(wrapped, key, wrappedFor(id, at)),
    body: sealed.subarray(start + wrappedBytes),
  }
}

/** Opens what `seal` made. Throws when the key, the place or a byte is another one. */
export function unseal(sealed: Buffer, keys: SealingKeys, at: SealedAt): string {
  if (sealed[0] === firstVersion) return unsealFirst(sealed, keyOf(sealed, keys), at)
  if (sealed[0] !== version) throw new Error('This secret is damaged.')
  const { dataKey, body } = unwrap(sealed, keys, at)
  return decrypt(body, dataKey, boundTo(at)).toString('utf8')
}

/** Secrets from before data keys, bound to their row alone. */
function unsealFirst(sealed: Buffer, { key }: SealingKey, { row }: SealedAt): string {
  const head = sealed.subarray(0, 1 + fingerprintBytes)
  const boundToRow = Buffer.concat([head, Buffer.from(row)])
  return decrypt(sealed.subarray(head.length), key, boundToRow).toString('utf8')
}

/**
 * The same secret under the first of `keys`: only its data key is wrapped anew. Undefined where it is
 * already. Throws as `unseal` does.
 */
export function rewrap(sealed: Buffer, keys: SealingKeys, at: SealedAt): Buffer | undefined {
  const [current] = keys
  if (sealed[0] === firstVersion) return seal(unseal(sealed, keys, at), keys, at)
  if (getKeyId(sealed) === current.id) return undefined
  const { dataKey, body } = unwrap(sealed, keys, at)
  return assemble(current.id, encrypt(dataKey, current.key, wrappedFor(current.id, at)), body)
}

/** Where the credential of a connection stands. */
export const connectionSecret = (connectionId: string): SealedAt => ({
  table: 'connection',
  row: connectionId,
  column: 'secret',
})

/** Where what signs sessions stands. */
export const signingSecret = (id: string): SealedAt => ({
  table: 'signing_secret',
  row: id,
  column: 'secret',
})

/** All columns with sealed values: tables, and where each of a table's values stands. */
export const secretPlaces = [
  { table: 'connection', at: connectionSecret },
  { table: 'signing_secret', at: signingSecret },
] as const
