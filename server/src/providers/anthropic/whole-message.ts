import { toFinish } from './finish-reason'
import { CallArguments, toCallInput } from '../../wire/call-arguments'
import { isObject, type JsonObject, toObjects, toText } from '../../wire/json-body'
import { readNamedFrame } from '../../wire/sse'

/** The events of a stream that a whole message stands for; a body that is no message stands for itself. */
export function toMessageEvents(whole: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence = null, usage, ...head } = whole
  if (!Array.isArray(content)) return [whole]
  const begun = isObject(usage) && { usage: { ...usage, output_tokens: 0 } }
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null, ...begun }
  const delta = { stop_reason: stop_reason ?? 'end_turn', stop_sequence }
  return [
    { type: 'message_start', message },
    ...toObjects(content).flatMap(toBlockEvents),
    { type: 'message_delta', delta, ...(isObject(usage) && { usage }) },
    { type: 'message_stop' },
  ]
}

function toBlockEvents(block: JsonObject, index: number): JsonObject[] {
  const { start, deltas } = divide(block)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A block as it starts, and the deltas that make it whole. */
function divide(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const { type, text, thinking, signature, input, citations } = block
  switch (type) {
    case 'text': {
      const { citations: _citations, ...start } = block
      const cites = toObjects(citations).map((citation) => ({ type: 'citations_delta', citation }))
      return {
        start: { ...start, text: '' },
        deltas: [{ type: 'text_delta', text: toText(text) }, ...cites],
      }
    }
    case 'thinking': {
      const signed = typeof signature === 'string' && signature !== ''
      const deltas = [
        { type: 'thinking_delta', thinking: toText(thinking) },
        ...(signed ? [{ type: 'signature_delta', signature }] : []),
      ]
      return { start: { ...block, thinking: '', signature: '' }, deltas }
    }
    case 'tool_use':
    case 'server_tool_use': {
      const json = JSON.stringify(input ?? {})
      return {
        start: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: json }],
      }
    }
    default:
      return { start: block, deltas: [] }
  }
}

/** Collects the frames of a stream into the message that they stand for. */
export function collectMessage(frames: readonly string[]): JsonObject {
  const collected: Collected = { message: {}, blocks: new Map(), inputs: new Map() }
  for (const frame of frames) collectEvent(collected, readNamedFrame(frame))
  const { message, blocks, inputs } = collected
  let isCut = false
  for (const [index, input] of inputs) {
    const block = blocks.get(index)
    if (block) block['input'] = toCallInput(input.text)
    isCut ||= input.isOpen
  }
  deleteUnbegun(collected)
  const stop = isCut && message['stop_reason'] === 'tool_use' && { stop_reason: 'max_tokens' }
  return { ...message, ...stop, content: [...blocks.values()] }
}

/** Deletes a last call that was cut before its input: `{}` would be a call without arguments. */
function deleteUnbegun({ message, blocks, inputs }: Collected): void {
  const finish = toFinish(toText(message['stop_reason']) || 'end_turn')
  if (finish !== 'length' && finish !== 'content_filter') return
  const [index, block] = [...blocks].at(-1) ?? []
  const [begun, sentInput] = [block?.['input'], inputs.get(index)]
  if (!isObject(begun) || Object.keys(begun).length > 0 || sentInput?.isEmptyObject) return
  blocks.delete(index)
}

/** A message so far: its blocks, and their inputs, by number. */
interface Collected {
  message: JsonObject
  blocks: Map<unknown, JsonObject>
  inputs: Map<unknown, CallArguments>
}

function collectEvent({ message, blocks, inputs }: Collected, event: JsonObject): void {
  const { type, index, message: begun, content_block: block, delta, usage } = event
  if (type === 'message_start' && isObject(begun)) {
    Object.assign(message, begun)
    for (const [at, each] of toObjects(begun['content']).entries()) blocks.set(at, each)
  }
  if (type === 'content_block_start' && isObject(block)) blocks.set(index, block)
  if (type === 'content_block_delta' && isObject(delta)) {
    addDelta(blocks.get(index), delta)
    const json = toText(delta['partial_json'])
    if (json !== '') addInput(inputs, index, json)
  }
  if (type === 'message_delta') {
    Object.assign(message, delta)
    const before = isObject(message['usage']) ? message['usage'] : {}
    if (isObject(usage)) message['usage'] = { ...before, ...usage }
  }
}

function addInput(inputs: Collected['inputs'], index: unknown, json: string): void {
  const input = inputs.get(index) ?? new CallArguments()
  inputs.set(index, input)
  input.add(json)
}

function addDelta(block: JsonObject | undefined, delta: JsonObject): void {
  if (!block) return
  for (const name of ['text', 'thinking', 'signature']) {
    const piece = delta[name]
    if (typeof piece === 'string') block[name] = toText(block[name]) + piece
  }
  const { citation } = delta
  if (!isObject(citation)) return
  const { citations } = block
  if (Array.isArray(citations)) citations.push(citation)
  else block['citations'] = [citation]
}
