import { createHash } from 'node:crypto'
import { isObject, type JsonObject } from '../../wire/json-body'
import { packCallId, unpackSignature } from '../../wire/packed-call-id'

/**
 * The signature that Google documents for calls that another model made, or whose signature got lost.
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const anySignature = 'skip_thought_signature_validator'

const child = (parent: JsonObject, name: string): JsonObject => {
  const value = parent[name]
  return isObject(value) ? value : {}
}

/** The signature that a message or a tool call brings back in the field that Google made for it. */
export function readCallerSignature(holder: JsonObject): string | undefined {
  const signature = child(child(holder, 'extra_content'), 'google')['thought_signature']
  return typeof signature === 'string' && /^[\w+/=-]+$/.test(signature) ? signature : undefined
}

/** The signature of a tool call of the history: as given, else from inside its id. */
export const callSignature = (call: JsonObject & { id: string }): string | undefined =>
  readCallerSignature(call) ?? unpackSignature(call.id)

/** The field in which a signature goes to the client, and comes back. */
export const signatureField = (signature: string): JsonObject => ({
  extra_content: { google: { thought_signature: signature } },
})

/**
 * The id of a signed call, its signature inside. Where Google gives no id, one is derived: a
 * signature is never used twice.
 */
export function toSignedCallId(id: string | undefined, signature: string): string {
  if (id) return packCallId(id, signature)
  const digest = createHash('sha256').update(signature).digest('hex')
  return packCallId(`call_${digest.slice(0, 26)}`, signature)
}
