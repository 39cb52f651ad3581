import { createHash } from 'node:crypto'
import { withoutBreakpoints } from './cache-control'
import { toProviderCallId } from '../../wire/call-ids'
import { isNonEmptyText, isObject, type JsonObject, toObjects } from '../../wire/json-body'
import { toToolMessages } from '../../wire/legacy-functions'
import { unpackCallId } from '../../wire/packed-call-id'
import { toThinkingPart } from '../../wire/thinking-parts'
import type { RelayOptions } from '../provider'

const nineAlphanumerics = /^[A-Za-z0-9]{9}$/
const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * An id that fits a provider's rule: the same for a call and for its result, whatever made it. Where any fits, it is the
 * one that the provider gave.
 */
export function toFittingCallId(id: string, rule: RelayOptions['toolCallIds']): string {
  if (rule === 'any') return toProviderCallId(id)
  const bare = unpackCallId(id)
  if (nineAlphanumerics.test(bare)) return bare
  const digest = createHash('sha256').update(bare).digest()
  return Array.from(digest.subarray(0, 9), (byte) => alphanumerics[byte % 62]).join('')
}

/** The messages of a chat request as a provider takes them; untouched where nothing needs touching. */
export function toUpstreamMessages(messages: unknown, options: RelayOptions): unknown {
  if (!Array.isArray(messages) || arePlain(messages, options)) return messages
  return toToolMessages(messages).flatMap((message) => {
    if (!isObject(message) || isPlain(message, options)) return [message]
    if (isThoughtAlone(message)) return toThoughtMessage(message, options)
    return [toUpstream(message, options)]
  })
}

const speech = ['content', 'tool_calls', 'refusal', 'audio'] as const

/** An assistant's turn that came to nothing but thoughts. */
const isThoughtAlone = (message: JsonObject): boolean =>
  message['role'] === 'assistant' &&
  speech.every((name) => isEmpty(message[name])) &&
  !(isEmpty(message['reasoning_content']) && isEmpty(message['reasoning_details']))

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === '' ||
  (Array.isArray(value) && value.length === 0)

/** Providers refuse a turn without text, and one with nothing but thoughts that do not go back is empty. */
function toThoughtMessage(message: JsonObject, options: RelayOptions): JsonObject[] {
  const { historyReasoning } = options
  if (historyReasoning === 'strip' || historyReasoning === 'thinking_part') return []
  return [toUpstream({ ...message, content: '' }, options)]
}

function arePlain(messages: readonly unknown[], options: RelayOptions): boolean {
  for (const message of messages) {
    if (!isObject(message) || !isPlain(message, options)) return false
  }
  return true
}

/**
 * Returns true for a message of a role and a text alone, as nearly all are: it needs no change and no
 * copy.
 */
function isPlain(message: JsonObject, options: RelayOptions): boolean {
  for (const name in message) if (name !== 'role' && name !== 'content') return false
  for (const name of options.dropFromMessages) if (name in message) return false
  const { role, content } = message
  if (typeof content !== 'string') return false
  if (role === 'assistant') return options.historyReasoning !== 'required'
  return role === 'user' || role === 'system'
}

function toUpstream(original: JsonObject, options: RelayOptions): JsonObject {
  const message = options.cacheControl ? original : withoutBreakpoints(original)
  const changes: JsonObject = {}
  if (message['role'] === 'developer' && !options.developerRole) changes['role'] = 'system'
  if (Array.isArray(message['content']) && options.files !== 'file') {
    changes['content'] = message['content'].map(toDocument)
  }
  if (options.toolCallIds !== 'any' || hasPackedId(message)) {
    Object.assign(changes, withFittingIds(message, options))
  }
  if (!options.extraContent) {
    const calls = changes['tool_calls'] ?? message['tool_calls']
    Object.assign(changes, withoutExtraContent(message, calls))
  }
  if (message['role'] === 'assistant') {
    const content = changes['content'] ?? message['content']
    Object.assign(changes, reasoning(message, content, options), omitCitations(message))
  }
  const dropped = options.dropFromMessages.filter((name) => name in message)
  const isUnchanged = dropped.length === 0 && Object.keys(changes).length === 0
  if (isUnchanged) return message
  const copy = { ...message, ...changes }
  for (const name of dropped) delete copy[name]
  return copy
}

/** Removes the citations of an answer; strict providers refuse a request that has them. */
function omitCitations(message: JsonObject): JsonObject {
  return {
    ...('citations' in message && { citations: undefined }),
    ...('annotations' in message && { annotations: withoutCitations(message['annotations']) }),
  }
}

/** A file as Mistral documents it, its data in place of the address of a document. */
function toDocument(part: unknown): unknown {
  if (!isObject(part) || part['type'] !== 'file' || !isObject(part['file'])) return part
  const { file_data: data, file_id: id, filename: name } = part['file']
  if (typeof data !== 'string') return { type: 'file', file_id: id }
  return {
    type: 'document_url',
    document_url: data,
    ...(isNonEmptyText(name) && { document_name: name }),
  }
}

function toContentParts(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content
  return isNonEmptyText(content) ? [{ type: 'text', text: content }] : []
}

/** Keeps annotations that a provider needs back for its next answer, such as a file that it has read. */
function withoutCitations(annotations: unknown): unknown {
  const remaining = toObjects(annotations).filter(({ type }) => !isCitation(type))
  return remaining.length > 0 ? remaining : undefined
}

const isCitation = (type: unknown) => type === 'url_citation' || type === 'file_citation'

/** Removes `extra_content` by undefined fields, which are not written. */
function withoutExtraContent(message: JsonObject, calls: unknown): JsonObject {
  const changes: JsonObject = 'extra_content' in message ? { extra_content: undefined } : {}
  if (Array.isArray(calls) && calls.some((call) => isObject(call) && 'extra_content' in call)) {
    changes['tool_calls'] = calls.map((call) =>
      isObject(call) ? { ...call, extra_content: undefined } : call,
    )
  }
  return changes
}

/** Gemini's signatures are for Gemini alone, and numbers of repeated ids for clients. */
const hasPackedId = ({ tool_call_id: answered, tool_calls: calls }: JsonObject): boolean =>
  isPacked(answered) ||
  (Array.isArray(calls) && calls.some((call) => isObject(call) && isPacked(call['id'])))

const isPacked = (id: unknown) => typeof id === 'string' && toProviderCallId(id) !== id

function withFittingIds(message: JsonObject, { toolCallIds }: RelayOptions): JsonObject {
  const changes: JsonObject = {}
  const id = message['tool_call_id']
  if (typeof id === 'string') changes['tool_call_id'] = toFittingCallId(id, toolCallIds)
  const calls = message['tool_calls']
  if (Array.isArray(calls)) {
    changes['tool_calls'] = calls.map((call) =>
      isObject(call) && typeof call['id'] === 'string'
        ? { ...call, id: toFittingCallId(call['id'], toolCallIds) }
        : call,
    )
  }
  return changes
}

/** Reasoning goes back only to providers that want it, under the name it has there. */
function reasoning(
  { reasoning_content: text, reasoning_details: details }: JsonObject,
  content: unknown,
  { historyReasoning }: RelayOptions,
): JsonObject {
  // Signed by another provider. Undefined fields are not written.
  const unsigned =
    details !== undefined && historyReasoning !== 'reasoning'
      ? { reasoning_details: undefined }
      : {}
  if (historyReasoning === 'required') {
    return text === undefined || text === null ? { ...unsigned, reasoning_content: '' } : unsigned
  }
  if (historyReasoning === 'reasoning_content' || text === undefined) return unsigned
  const removed = { ...unsigned, reasoning_content: undefined }
  if (historyReasoning === 'thinking_part' && isNonEmptyText(text)) {
    return { ...removed, content: [toThinkingPart(text), ...toContentParts(content)] }
  }
  return historyReasoning === 'reasoning' ? { ...removed, reasoning: text } : removed
}
