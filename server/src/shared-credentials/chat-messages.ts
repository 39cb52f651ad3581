import type { OnOmitted } from './credential'
import { hasListedFieldsOnly, withoutUnlisted } from './omission'
import { rejectStored } from './rejections'
import { hasStoredReference, rejectStoredInPart } from './stored-references'
import { isObject, type JsonObject } from '../wire/json-body'

/** Fields of messages: those of the published SDKs, and how open models and other gateways keep thoughts and sources. */
export const messageFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'audio',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'annotations',
  'citations',
  'cache_control',
  'extra_content',
  // An answer that begins with this text: Mistral, DeepSeek; Moonshot.
  'prefix',
  'partial',
])

const marks = ['type', 'cache_control', 'prompt_cache_breakpoint', 'extra_content']

/** Fields of a content part, and of the object in it, by the type of the part. */
export const partFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['text', new Set([...marks, 'text', 'citations'])],
  ['refusal', new Set([...marks, 'refusal'])],
  ['image_url', new Set([...marks, 'image_url'])],
  ['input_audio', new Set([...marks, 'input_audio'])],
  ['audio_url', new Set([...marks, 'audio_url'])],
  ['file', new Set([...marks, 'file'])],
])

export const mediaFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['image_url', new Set(['url', 'detail', 'format'])],
  ['input_audio', new Set(['data', 'format'])],
  ['audio_url', new Set(['url'])],
  ['file', new Set(['file_data', 'file_id', 'file_url', 'filename', 'format'])],
])

/** Returns whether all messages of a chat go on as they are. */
export function areListedMessages(messages: unknown): boolean {
  if (!Array.isArray(messages)) return true
  for (let index = 0; index < messages.length; index++) {
    if (!isListedMessage(messages[index])) return false
  }
  return true
}

function isListedMessage(message: unknown): boolean {
  if (!isObject(message)) return true
  if (!hasListedFieldsOnly(message, messageFields) || message['audio']) return false
  const { content } = message
  if (!Array.isArray(content)) return true
  for (let at = 0; at < content.length; at++) if (!isListedPart(content[at])) return false
  return true
}

function isListedPart(part: unknown): boolean {
  if (!isObject(part)) return true
  const { type } = part
  const fields = partFields.get(String(type))
  if (!fields || !hasListedFieldsOnly(part, fields)) return false
  const ofMedia = mediaFields.get(String(type))
  const media = part[String(type)]
  if (!ofMedia || !isObject(media)) return true
  return hasListedFieldsOnly(media, ofMedia) && !hasStoredReference(part)
}

/**
 * Returns the messages of a chat without what is not listed for them. Throws `invalid_request` for references to what
 * the provider's account holds.
 */
export function toListedMessages(messages: unknown, omit: OnOmitted): unknown {
  if (!Array.isArray(messages)) return messages
  return messages.map((message: unknown, index) =>
    isObject(message) && !isListedMessage(message)
      ? toListedMessage(message, { param: `messages.${index}`, omit })
      : message,
  )
}

interface ListingContext {
  param: string
  omit: OnOmitted
}

function toListedMessage(message: JsonObject, { param, omit }: ListingContext): JsonObject {
  const { audio } = message
  // Sound of an earlier answer, which its provider keeps.
  if (isObject(audio) && audio['id']) throw rejectStored(`${param}.audio.id`)
  const listed = withoutUnlisted(message, messageFields, (name) => omit(`${param}.${name}`))
  const { content } = listed
  if (!Array.isArray(content)) return listed
  const parts = content.map((part: unknown, at) =>
    isObject(part) ? toListedPart(part, { param: `${param}.content.${at}`, omit }) : part,
  )
  return { ...listed, content: parts }
}

function toListedPart(part: JsonObject, { param, omit }: ListingContext): JsonObject {
  rejectStoredInPart(part, param)
  const type = String(part['type'])
  const listed = withoutUnlisted(part, partFields.get(type) ?? new Set(marks), (name) =>
    omit(`${param}.${name}`),
  )
  const media = listed[type]
  const ofMedia = mediaFields.get(type)
  if (!ofMedia || !isObject(media)) return listed
  const rest = withoutUnlisted(media, ofMedia, (name) => omit(`${param}.${type}.${name}`))
  return rest === media ? listed : { ...listed, [type]: rest }
}
