import { createHash, createPublicKey, verify } from 'node:crypto'
import type { CatalogSource } from './schema'
import { CatalogDocument } from '../../../catalog/entry-schema'
import { invalidRequest } from '../../../errors'

/** A document that can be compared with the catalogue. */
export interface ReadDocument {
  document: CatalogDocument
  /** SHA-256 of its text. */
  digest: string
  isSigned: boolean
}

/** Rejects when the fetch fails. */
export type FetchDocument = (url: string) => Promise<{ status: number; text: string }>

interface Ports {
  fetchDocument: FetchDocument
  /** Ed25519, 32 bytes in base64; null where documents need no signature. */
  publicKey: string | null
}

/** Reads the document that an operator named or sent. Rejects with `invalid_request`. */
export async function readDocument(source: CatalogSource, ports: Ports): Promise<ReadDocument> {
  const { publicKey } = ports
  const text = source.document ?? (await fetched(source.url ?? '', ports))
  if (publicKey !== null) await checkSignature(text, source, { ...ports, publicKey })
  const digest = createHash('sha256').update(text).digest('hex')
  return { document: parsed(text, paramOf(source)), digest, isSigned: publicKey !== null }
}

/** Returns the field that names or has the document. */
export const paramOf = ({ url }: CatalogSource) => (url === undefined ? 'document' : 'url')

async function fetched(url: string, { fetchDocument }: Ports): Promise<string> {
  try {
    const { status, text } = await fetchDocument(url)
    if (status === 200) return text
    throw new Error(`status ${status}`)
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : 'no answer'
    throw invalidRequest('url', 'bad_format', `url: the document could not be fetched: ${reason}.`)
  }
}

async function checkSignature(
  text: string,
  source: CatalogSource,
  ports: Ports & { publicKey: string },
): Promise<void> {
  const signature =
    source.url === undefined ? source.signature : (await fetched(`${source.url}.sig`, ports)).trim()
  const param = source.url === undefined ? 'signature' : 'url'
  if (signature === undefined) {
    const message = 'signature: required, because the setting catalog_public_key is set.'
    throw invalidRequest('signature', 'required', message)
  }
  if (isSigned(text, signature, ports.publicKey)) return
  const message = `${param}: the signature does not match the document and catalog_public_key.`
  throw invalidRequest(param, 'bad_signature', message)
}

function isSigned(text: string, signature: string, publicKey: string): boolean {
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64'))
}

function parsed(text: string, param: string): CatalogDocument {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalidRequest(param, 'invalid_json', `${param}: the document is not JSON.`)
  }
  const checked = CatalogDocument.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const path = issue?.path.map(String).join('.') ?? ''
  const message = `${param}: the document is not a valid catalogue: ${path}: ${issue?.message ?? ''}`
  throw invalidRequest(param, 'bad_format', message)
}
