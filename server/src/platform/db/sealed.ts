import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** A key that wraps the data keys of secrets. */
export interface SealingKey {
  /** The id by which stored secrets name the key. */
  id: string
  /** 32 bytes. */
  key: Buffer
}

/** The first key seals, all of them open. */
export type SealingKeys = readonly [SealingKey, ...SealingKey[]]

/** The column and row of a sealed value: it opens nowhere else. */
export interface SealedAt {
  table: string
  row: string
  column: string
}

/** Values sealed with data keys of their own; the first version had none. */
const version = 2
const firstVersion = 1
const fingerprintBytes = 4
const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
/** The size of a wrapped data key, which follows its nonce and tag. */
const wrappedBytes = ivBytes + tagBytes + keyBytes

/** Identifies a key without revealing it; the name of a key that was given none. */
export const fingerprintOf = (key: Buffer) =>
  createHash('sha256').update('tollgate key id').update(key).digest().subarray(0, fingerprintBytes)

/** Encrypts with AES-256-GCM; returns nonce, tag and ciphertext. */
function encrypt(plain: Buffer, key: Buffer, bound: Buffer): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bound)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

/** Throws when the key or the bound data differ, or a byte was changed. */
function decrypt(encrypted: Buffer, key: Buffer, bound: Buffer): Buffer {
  const iv = encrypted.subarray(0, ivBytes)
  const tag = encrypted.subarray(ivBytes, ivBytes + tagBytes)
  // Without a fixed length a shortened tag would be accepted, and four bytes can be guessed.
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(bound)
    .setAuthTag(tag)
  return Buffer.concat([decipher.update(encrypted.subarray(ivBytes + tagBytes)), decipher.final()])
}

/** No part contains a zero character, so no two places have the same encoding. */
const bound = (...fields: string[]) => Buffer.from([String(version), ...fields].join('\0'))

const boundTo = ({ table, row, column }: SealedAt) => bound(table, row, column)
const wrappedFor = (keyId: string, { table, row, column }: SealedAt) =>
  bound(keyId, table, row, column)

/** Concatenates version, the key's id after its length, the wrapped data key, the encrypted secret. */
const assemble = (keyId: string, wrapped: Buffer, body: Buffer) => {
  const name = Buffer.from(keyId)
  return Buffer.concat([Buffer.from([version, name.length]), name, wrapped, body])
}

/**
 * Encrypts a secret for a column: AES-256-GCM under a data key of its own, which is wrapped by the first of `keys`.
 * The secret is bound to its place: a value copied into another row or column does not open.
 */
export function seal(secret: string, [current]: SealingKeys, at: SealedAt): Buffer {
  const dataKey = randomBytes(keyBytes)
  const wrapped = encrypt(dataKey, current.key, wrappedFor(current.id, at))
  return assemble(current.id, wrapped, encrypt(Buffer.from(secret), dataKey, boundTo(at)))
}

/** Returns the id of the key that sealed a value, as stored with it. */
export function getKeyId(sealed: Buffer): string {
  if (sealed[0] === firstVersion) return sealed.subarray(1, 1 + fingerprintBytes).toString('hex')
  return sealed.subarray(2, 2 + (sealed[1] ?? 0)).toString('utf8')
}

/** Finds the key of a value; a key that was named later is still found by its fingerprint. */
function keyOf(sealed: Buffer, keys: SealingKeys): SealingKey {
  const id = getKeyId(sealed)
  const sealingKey =
    keys.find((candidateKey) => candidateKey.id === id) ??
    keys.find(({ key }) => fingerprintOf(key).toString('hex') === id)
  if (sealingKey) return sealingKey
  throw new Error(`This secret was sealed with the key "${id}", which ENCRYPTION_KEY lacks.`)
}

/** Unwraps the data key; returns it with the encrypted secret. */
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

/** Opens a value that `seal` created. Throws when the key or the place differ, or a byte was changed. */
export function unseal(sealed: Buffer, keys: SealingKeys, at: SealedAt): string {
  if (sealed[0] === firstVersion) return unsealFirst(sealed, keyOf(sealed, keys), at)
  if (sealed[0] !== version) throw new Error('This secret is damaged.')
  const { dataKey, body } = unwrap(sealed, keys, at)
  return decrypt(body, dataKey, boundTo(at)).toString('utf8')
}

/** Opens a secret that predates data keys, which is bound to its row only. */
function unsealFirst(sealed: Buffer, { key }: SealingKey, { row }: SealedAt): string {
  const head = sealed.subarray(0, 1 + fingerprintBytes)
  const boundToRow = Buffer.concat([head, Buffer.from(row)])
  return decrypt(sealed.subarray(head.length), key, boundToRow).toString('utf8')
}

/**
 * Rewraps a secret under the first of `keys`: only its data key is encrypted anew. Undefined if it is already under
 * that key. Throws as `unseal` does.
 */
export function rewrap(sealed: Buffer, keys: SealingKeys, at: SealedAt): Buffer | undefined {
  const [current] = keys
  if (sealed[0] === firstVersion) return seal(unseal(sealed, keys, at), keys, at)
  if (getKeyId(sealed) === current.id) return undefined
  const { dataKey, body } = unwrap(sealed, keys, at)
  return assemble(current.id, encrypt(dataKey, current.key, wrappedFor(current.id, at)), body)
}

/** Returns the place of a connection's credential. */
export const connectionSecret = (connectionId: string): SealedAt => ({
  table: 'connection',
  row: connectionId,
  column: 'secret',
})

/** Returns the place of the secrets of the way to a connection's upstream. */
export const networkSecret = (connectionId: string): SealedAt => ({
  table: 'connection',
  row: connectionId,
  column: 'network_secret',
})

/** Returns the place of a secret that signs sessions. */
export const signingSecret = (id: string): SealedAt => ({
  table: 'signing_secret',
  row: id,
  column: 'secret',
})

/** Returns the place of a destination's address and keys. */
export const destinationSecret = (id: string): SealedAt => ({
  table: 'notification_destination',
  row: id,
  column: 'secret',
})

/** Returns the place of the address and keys of a destination of audit logs. */
export const auditDestinationSecret = (id: string): SealedAt => ({
  table: 'audit_destination',
  row: id,
  column: 'secret',
})

/** All columns with sealed values, those with the ids of their keys, and the place of each of a column's values. */
export const secretColumns = [
  { table: 'connection', column: 'secret', keyId: 'secret_key_id', at: connectionSecret },
  {
    table: 'connection',
    column: 'network_secret',
    keyId: 'network_secret_key_id',
    at: networkSecret,
  },
  { table: 'signing_secret', column: 'secret', keyId: 'secret_key_id', at: signingSecret },
  {
    table: 'notification_destination',
    column: 'secret',
    keyId: 'secret_key_id',
    at: destinationSecret,
  },
  {
    table: 'audit_destination',
    column: 'secret',
    keyId: 'secret_key_id',
    at: auditDestinationSecret,
  },
] as const
