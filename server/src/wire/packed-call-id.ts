import { z } from 'zod'

/**
 * Gemini wants the signature of a tool call back with the call. Clients drop fields they do not know,
 * but all return ids, so it travels inside the id too; the separator is the one that LiteLLM uses,
 * which several clients know. Nothing but an adapter for Gemini may see it: see `bareCallId`.
 */
const separator = '__thought__'

/** `<id>__thought__<signature>`, the signature in the alphabet that is safe in ids. */
export const packCallId = (id: string, signature: string): string =>
  `${id}${separator}${signature.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`

/** Returns the id without the data packed into it. */
export function unpackCallId(id: string): string {
  const end = id.indexOf(separator)
  // An id that is nothing but a signature stays as it is: there would be no id left.
  return end > 0 ? id.slice(0, end) : id
}

/** The signature inside an id, in the standard alphabet of base64; undefined where there is none. */
export function unpackSignature(id: string): string | undefined {
  const end = id.indexOf(separator)
  if (end <= 0) return undefined
  const bare = id
    .slice(end + separator.length)
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/=+$/, '')
  if (!/^[A-Za-z0-9+/]+$/.test(bare)) return undefined
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=')
}

/** The id of a tool call. A signature that Tollgate packed into it is as long as its provider likes. */
export const callId = z
  .string()
  .min(1)
  .refine((id) => unpackCallId(id).length <= 256, {
    params: { issue: 'too_long' },
    message: 'must have a length of at most 256.',
  })
