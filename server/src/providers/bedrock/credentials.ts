import { parseRegion } from './address'
import { signHeaders, type AwsKeys } from './sign'
import { isObject } from '../../wire/json-body'

/** The credential of a connection to Bedrock: a bearer key, or a pair of keys that sign. */
export type BedrockCredential = { bearer: string } | AwsKeys

/**
 * A connection's secret: the pair as JSON (`access_key_id`, `secret_access_key`, `session_token`) or
 * as `<id>:<secret>[:<session token>]`; anything else is a bearer key, `AWS_BEARER_TOKEN_BEDROCK`.
 */
export function readCredential(secret: string): BedrockCredential {
  const [id = '', key = '', token] = secret.startsWith('{') ? fromJson(secret) : secret.split(':')
  // Access key ids are upper case and digits; bearer keys are base64 with a prefix.
  if (!/^[A-Z0-9]{16,128}$/.test(id) || key === '') return { bearer: secret }
  return { accessKeyId: id, secretAccessKey: key, ...(token && { sessionToken: token }) }
}

function fromJson(secret: string): (string | undefined)[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(secret)
  } catch {
    return []
  }
  const names = ['access_key_id', 'secret_access_key', 'session_token']
  if (!isObject(parsed)) return []
  const keys = parsed
  return names.map((name) => (typeof keys[name] === 'string' ? keys[name] : undefined))
}

interface Request {
  method?: 'GET' | 'POST' | undefined
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  /** The region of a private endpoint whose address does not name it. */
  region?: string | undefined
}

const usualRegion = 'us-east-1'

/**
 * Returns the headers of one request, a POST where no method is given, with its credential. A signature is
 * good for five minutes.
 */
export async function withCredential(
  { method = 'POST', url, headers, body, region }: Request,
  credential: BedrockCredential,
  now: Date,
): Promise<Record<string, string>> {
  if ('bearer' in credential) {
    return { ...headers, authorization: `Bearer ${credential.bearer}` }
  }
  const signed = region ?? parseRegion(url) ?? usualRegion
  const unsigned = { method, url, headers, body, region: signed, service: 'bedrock' }
  return signHeaders(unsigned, credential, now)
}
