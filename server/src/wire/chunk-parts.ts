import type { FinishReason } from './finish-reason'
import { isObject, type JsonObject, toObjects } from './json-body'
import type { Part } from './answer-part'
import { readMatchedStop } from './stop-sequence'
import { readUsage } from './usage'

/** Fields of a delta that become parts of their own, or carry no content. */
const outputFields = new Set([
  'role',
  'content',
  'refusal',
  'reasoning_content',
  'tool_calls',
  'annotations',
  'logprobs',
])

/**
 * Returns the parts of a chunk in the OpenAI format, in order. The chunks are those of a relayed or
 * translated stream with one choice: calls with index, id and name first.
 */
export function toChunkParts(chunk: JsonObject): Part[] {
  const parts: Part[] = []
  const [choice] = toObjects(chunk['choices'])
  if (choice) {
    if (isObject(choice['delta'])) addOutput(choice['delta'], parts)
    addFinish(choice, parts)
  }
  addUsage(chunk['usage'], parts)
  return parts
}

/** Returns the parts of a whole chat completion: those of its first choice. */
export function toCompletionParts(completion: JsonObject): Part[] {
  const parts: Part[] = []
  const [choice] = toObjects(completion['choices'])
  if (choice) {
    const message = isObject(choice['message']) ? choice['message'] : {}
    const calls = toObjects(message['tool_calls']).map((call, index) => ({ ...call, index }))
    addOutput({ ...message, tool_calls: calls }, parts)
    addFinish(choice, parts)
  }
  addUsage(completion['usage'], parts)
  return parts
}

function addOutput(delta: JsonObject, parts: Part[]): void {
  addText('reasoning', delta['reasoning_content'], parts)
  const fields: JsonObject = {}
  for (const name in delta) {
    const value = delta[name]
    if (!outputFields.has(name) && value !== null && value !== undefined) fields[name] = value
  }
  const { images, ...before } = fields
  if (Object.keys(before).length > 0) parts.push({ type: 'extra', fields: before })
  addText('text', delta['content'], parts)
  addText('refusal', delta['refusal'], parts)
  if (images !== undefined) parts.push({ type: 'extra', fields: { images } })
  for (const annotation of toObjects(delta['annotations'])) {
    parts.push({ type: 'annotation', annotation })
  }
  for (const call of toObjects(delta['tool_calls'])) addCall(call, parts)
}

function addText(type: 'text' | 'reasoning' | 'refusal', text: unknown, parts: Part[]): void {
  if (typeof text === 'string' && text !== '') parts.push({ type, text })
}

function addCall(call: JsonObject, parts: Part[]): void {
  const index = Number(call['index'] ?? 0)
  const calledFunction = isObject(call['function']) ? call['function'] : {}
  const { name, arguments: text } = calledFunction
  const { id } = call
  if (typeof id === 'string' && typeof name === 'string') {
    parts.push({ type: 'call', index, id, name })
  }
  if (typeof text === 'string' && text !== '') parts.push({ type: 'arguments', index, text })
}

const reasons: ReadonlySet<unknown> = new Set<FinishReason>([
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
])
const isReason = (word: unknown): word is FinishReason => reasons.has(word)

function addFinish(choice: JsonObject, parts: Part[]): void {
  const { finish_reason: reason } = choice
  if (!isReason(reason)) return
  const matchedStop = reason === 'stop' ? readMatchedStop(choice) : undefined
  parts.push({ type: 'finish', reason, ...(matchedStop !== undefined && { matchedStop }) })
}

function addUsage(block: unknown, parts: Part[]): void {
  const usage = readUsage(block, 'inside')
  if (usage) parts.push({ type: 'usage', usage })
}
