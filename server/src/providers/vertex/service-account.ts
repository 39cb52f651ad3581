import { createPrivateKey, sign, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { invalidRequest } from '../../errors'

const scope = 'https://www.googleapis.com/auth/cloud-platform'
const lifeSeconds = 3600

const KeyFile = z.looseObject({
  type: z.literal('service_account'),
  project_id: z.string().min(1),
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().optional(),
  token_uri: z.string().default('https://oauth2.googleapis.com/token'),
})

/** The service account that requests tokens. */
export interface ServiceAccount {
  projectId: string
  email: string
  key: KeyObject
  keyId: string | undefined
  tokenUrl: string
}

/**
 * Reads a service account's key file. Throws `invalid_request`, without a word of the file, which is a
 * secret, for a text that is none, and for a token address that is not Google's, to which Tollgate would
 * post.
 */
export function readServiceAccount(text: string): ServiceAccount {
  const file = KeyFile.safeParse(parseJson(text))
  if (!file.success) throw refused('It is not the key file of a service account.')
  const { data } = file
  if (!isGoogles(data.token_uri)) throw refused('Its "token_uri" is not an address of Google.')
  return {
    projectId: data.project_id,
    email: data.client_email,
    key: keyOf(data.private_key),
    keyId: data.private_key_id,
    tokenUrl: data.token_uri,
  }
}

/** Returns whether a secret is meant as a key file; an API key is no JSON. */
export const isServiceAccount = (secret: string): boolean => secret.trimStart().startsWith('{')

const refused = (why: string) => invalidRequest('credentials', 'bad_format', why)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused('It is not JSON.')
  }
}

function isGoogles(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, port, username } = new URL(address)
  return (
    protocol === 'https:' && hostname.endsWith('.googleapis.com') && port === '' && username === ''
  )
}

function keyOf(pem: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw refused('Its "private_key" cannot be read.')
  }
  if (key.asymmetricKeyType !== 'rsa') throw refused('Its "private_key" is not an RSA key.')
  return key
}

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Signs the claim that is exchanged for a token: it names the account, and the account's key signs it.
 * @see https://developers.google.com/identity/protocols/oauth2/service-account#authorizingrequests
 */
export function signClaim(account: ServiceAccount, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(account.keyId && { kid: account.keyId }) }
  const claim = {
    iss: account.email,
    scope,
    aud: account.tokenUrl,
    iat: issuedAt,
    exp: issuedAt + lifeSeconds,
  }
  const text = `${encoded(header)}.${encoded(claim)}`
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), account.key).toString('base64url')}`
}
