import { ProviderRejected } from '../requests'

const maxTags = 4000
const declaration = /^\s*<\?xml[^<>]*\?>/
const weakAlgorithms = ['xmldsig#rsa-sha1', 'xmldsig#sha1', 'xmldsig#dsa-sha1', 'hmac-']

/**
 * Returns the XML of a response in Base64, before any parser reads it. Rejects with `ProviderRejected` for a document type
 * (entities, external ones too), comments, CDATA and processing instructions, which no identity provider writes and by which
 * parsers have disagreed about what is signed; for more tags than a response has; and for SHA-1.
 */
export function readResponseText(encoded: string): string {
  if (!/^[A-Za-z0-9+/=\s]+$/.test(encoded)) throw new ProviderRejected('the response is no Base64')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    throw new ProviderRejected('the response is no UTF-8')
  }
  const body = text.replace(declaration, '')
  if (/<[!?]/.test(body)) {
    throw new ProviderRejected('the response has a document type, a comment or an instruction')
  }
  if (body.split('<').length > maxTags) throw new ProviderRejected('the response has too many tags')
  if (weakAlgorithms.some((name) => body.includes(name))) {
    throw new ProviderRejected('the response is signed with a weak algorithm: use RSA-SHA256')
  }
  return text
}
