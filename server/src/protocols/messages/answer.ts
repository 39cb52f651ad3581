import { toCallId } from './call-id'
import { toCitations } from './citations'
import { readThoughts, type Thought } from './thoughts'
import { messageHead, toMessageUsage, toStopReason } from './message-render'
import { bareAnswerId } from '../../wire/answer'
import { toCompletionParts } from '../../wire/chunk-parts'
import { isObject, type JsonObject } from '../../wire/json-body'
import { eventShape } from '../../wire/json-shape'
import { parseShaped } from '../../wire/json-slices'
import type { Part } from '../../wire/answer-part'

type Of<Type extends Part['type']> = Extract<Part, { type: Type }>

/** The content that a caller wants to receive. */
export interface RenderedContent {
  /** Thoughts go only to callers who requested them: others take the first block for the answer. */
  thinking: boolean
}

/** A whole message. @see https://docs.claude.com/en/api/messages */
export function toMessage(completion: JsonObject, { thinking }: RenderedContent): object {
  const parts = toCompletionParts(completion)
  const finish = parts.find((part): part is Of<'finish'> => part.type === 'finish')
  const usage = parts.findLast((part): part is Of<'usage'> => part.type === 'usage')
  return {
    ...messageHead(bareAnswerId(completion['id']), completion['model']),
    content: [...(thinking ? thoughtBlocks(parts) : []), ...parts.flatMap(toBlocks(parts))],
    stop_reason: toStopReason(finish?.reason),
    stop_sequence: null,
    usage: toMessageUsage(usage?.usage),
  }
}

export const thoughtBlock = (thought: Thought): JsonObject =>
  'data' in thought
    ? { type: 'redacted_thinking', data: thought.data }
    : { type: 'thinking', thinking: thought.text, signature: thought.signature }

/** Signed ones have their text in themselves. */
function thoughtBlocks(parts: readonly Part[]): JsonObject[] {
  const signed = parts.flatMap((part) => (part.type === 'extra' ? readThoughts(part.fields) : []))
  if (signed.some((thought) => 'text' in thought)) return signed.map(thoughtBlock)
  const text = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
  const plain = text === '' ? [] : [{ text, signature: '' }]
  return [...plain, ...signed].map(thoughtBlock)
}

const toBlocks =
  (parts: readonly Part[]) =>
  (part: Part): JsonObject[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text, ...citationsOf(parts) }]
      case 'refusal':
        return [{ type: 'text', text: part.text }]
      case 'call':
        return [
          {
            type: 'tool_use',
            id: toCallId(part.id ?? ''),
            name: part.name,
            input: inputOf(parts, part.index),
          },
        ]
      default:
        return []
    }
  }

function citationsOf(parts: readonly Part[]): JsonObject {
  const citations = parts.flatMap((part) =>
    part.type === 'annotation' ? toCitations(part.annotation) : [],
  )
  return citations.length > 0 ? { citations } : {}
}

/** Arguments that are no object have no form in this format. */
function inputOf(parts: readonly Part[], index: number): JsonObject {
  const texts = parts.map((part) =>
    part.type === 'arguments' && part.index === index ? part.text : '',
  )
  try {
    const input: unknown = parseShaped(texts.join(''), eventShape)
    return isObject(input) ? input : {}
  } catch {
    return {}
  }
}
