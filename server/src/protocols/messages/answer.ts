import { toCallId } from './call-id'
import { toCitations } from './citations'
import { ThoughtReader, type Thought } from './thoughts'
import { isBrokenOff, messageHead, toMessageUsage, toStop } from './message-render'
import { bareAnswerId } from '../../wire/answer'
import { toCallInput } from '../../wire/call-arguments'
import { toCompletionParts } from '../../wire/chunk-parts'
import type { JsonObject } from '../../wire/json-body'
import type { Part } from '../../wire/answer-part'

type Of<Type extends Part['type']> = Extract<Part, { type: Type }>

/** The content that a caller wants to receive. */
export interface RenderedContent {
  /** Thoughts go only to callers who requested them: others take the first block for the answer. */
  thinking: boolean
  /** The stop sequences of the request. */
  stopSequences: readonly string[]
}

/** A whole message. @see https://docs.claude.com/en/api/messages */
export function toMessage(
  completion: JsonObject,
  { thinking, stopSequences }: RenderedContent,
): object {
  const parts = toCompletionParts(completion)
  const finish = parts.find((part): part is Of<'finish'> => part.type === 'finish')
  const usage = parts.findLast((part): part is Of<'usage'> => part.type === 'usage')
  return {
    ...messageHead(bareAnswerId(completion['id']), completion['model']),
    content: [
      ...(thinking ? thoughtBlocks(parts) : []),
      ...parts.flatMap(toBlocks(parts, isBrokenOff(finish?.reason))),
    ],
    ...toStop(finish ?? {}, stopSequences),
    usage: toMessageUsage(usage?.usage),
  }
}

export const thoughtBlock = (thought: Thought): JsonObject =>
  'data' in thought
    ? { type: 'redacted_thinking', data: thought.data }
    : { type: 'thinking', thinking: thought.text, signature: thought.signature }

/** Signed ones have their text in themselves. That of others belongs to the first signature, if there is one. */
function thoughtBlocks(parts: readonly Part[]): JsonObject[] {
  const reader = new ThoughtReader()
  const signed = parts.flatMap((part) => (part.type === 'extra' ? reader.add(part.fields) : []))
  const text = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
  const isTold = text === '' || signed.some((thought) => 'text' in thought && thought.text !== '')
  if (isTold) return signed.map(thoughtBlock)
  const at = signed.findIndex((thought) => 'text' in thought)
  const first = signed[at]
  if (!first || !('text' in first)) return [{ text, signature: '' }, ...signed].map(thoughtBlock)
  return signed.with(at, { ...first, text }).map(thoughtBlock)
}

const toBlocks =
  (parts: readonly Part[], isCut: boolean) =>
  (part: Part): JsonObject[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text, ...citationsOf(parts) }]
      case 'refusal':
        return [{ type: 'text', text: part.text }]
      case 'call':
        return toCallBlocks(part, argumentsOf(parts, part.index), isCut)
      default:
        return []
    }
  }

/** A call that was cut before its arguments began is none: `{}` would be a call without arguments. */
function toCallBlocks({ id = '', name }: Of<'call'>, text: string, isCut: boolean): JsonObject[] {
  if (isCut && text === '') return []
  return [{ type: 'tool_use', id: toCallId(id), name, input: toCallInput(text) }]
}

function citationsOf(parts: readonly Part[]): JsonObject {
  const citations = parts.flatMap((part) =>
    part.type === 'annotation' ? toCitations(part.annotation) : [],
  )
  return citations.length > 0 ? { citations } : {}
}

const argumentsOf = (parts: readonly Part[], index: number): string =>
  parts.map((part) => (part.type === 'arguments' && part.index === index ? part.text : '')).join('')
