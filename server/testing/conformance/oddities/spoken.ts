import { counted, inputOf, joined, numbered, type Piece, type Scene } from './scene'
import { spokenResponse } from './spoken-response'
import type { JsonObject } from '../../../src/wire/json-body'

/** The data that a provider sends: events, or words that are none, such as `[DONE]`. */
export type Spoken = readonly (JsonObject | string)[]

/** A chunk of a chat. */
export const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta, finish_reason }],
})
export const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
/** How a chat ends. */
export const chatEnd = (reason: string | null): Spoken => [
  ...(reason === null ? [] : [chunk({}, reason)]),
  { choices: [], usage: chatUsage },
  '[DONE]',
]

const claudeFormat = 'anthropic-claude-v1'
/** The details of a thought, as gateways such as OpenRouter have them. */
export const thoughtDetails = (piece: Piece & { kind: 'thought' }): JsonObject[] => {
  const { signature, data } = piece
  const about = { format: claudeFormat, index: 0 }
  return [
    ...(signature === undefined
      ? []
      : [{ type: 'reasoning.text', text: joined(piece), signature, ...about }]),
    ...(data === undefined ? [] : [{ type: 'reasoning.encrypted', data, ...about }]),
  ]
}

function chatDeltas(piece: Piece, index: number): JsonObject[] {
  if (piece.kind === 'text') return piece.texts.map((content) => ({ content }))
  if (piece.kind === 'thought') {
    const details = thoughtDetails(piece)
    const shown: JsonObject[] = piece.texts.map((text) => ({ reasoning_content: text }))
    return details.length > 0 ? [...shown, { reasoning_details: details }] : shown
  }
  const { id, name, texts } = piece
  const [first = '', ...rest] = texts
  const begun = { index, id, type: 'function', function: { name, arguments: first } }
  const more = rest.map((text) => ({ index, function: { arguments: text } }))
  return [begun, ...more].map((entry) => ({ tool_calls: [entry] }))
}

const openai = (scene: Scene): Spoken => [
  chunk({ role: 'assistant', content: '' }),
  ...numbered(scene)
    .flatMap(({ piece, at }) => chatDeltas(piece, at))
    .map((delta) => chunk(delta)),
  ...chatEnd({ stop: 'stop', calls: 'tool_calls', length: 'length' }[scene.finish]),
]

/** The opening of a message. */
export const messageStart: JsonObject = {
  type: 'message_start',
  message: { id: 'm', content: [], usage: { input_tokens: counted.input, output_tokens: 1 } },
}
/** A block of a message. */
export const messageBlock = (
  index: number,
  content_block: JsonObject,
  ...deltas: JsonObject[]
): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
export const messageReasons = { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens' } as const
/** How a message ends. */
export const messageEnd = (stop_reason: string, rest: JsonObject = {}): JsonObject[] => [
  {
    type: 'message_delta',
    delta: { stop_reason, ...rest },
    usage: { output_tokens: counted.output },
  },
  { type: 'message_stop' },
]

function messageBlocks(piece: Piece, index: number): JsonObject[] {
  if (piece.kind === 'text') {
    const deltas = piece.texts.map((text) => ({ type: 'text_delta', text }))
    return messageBlock(index, { type: 'text', text: '' }, ...deltas)
  }
  if (piece.kind === 'thought') {
    const { data, signature } = piece
    if (data !== undefined) return messageBlock(index, { type: 'redacted_thinking', data })
    const deltas: JsonObject[] = piece.texts.map((thinking) => ({
      type: 'thinking_delta',
      thinking,
    }))
    if (signature !== undefined) deltas.push({ type: 'signature_delta', signature })
    return messageBlock(index, { type: 'thinking', thinking: '', signature: '' }, ...deltas)
  }
  const { id, name, texts } = piece
  const deltas = texts.map((text) => ({ type: 'input_json_delta', partial_json: text }))
  return messageBlock(index, { type: 'tool_use', id, name, input: {} }, ...deltas)
}

const anthropic = (scene: Scene): Spoken => [
  messageStart,
  ...numbered(scene).flatMap(({ piece, position }) => messageBlocks(piece, position)),
  ...messageEnd(messageReasons[scene.finish]),
]

/** A delta of Converse. */
export const converseDelta = (contentBlockIndex: number, delta: JsonObject): JsonObject => ({
  contentBlockDelta: { contentBlockIndex, delta },
})
/** How a call of Converse begins. */
export const converseStart = (contentBlockIndex: number, toolUse: JsonObject): JsonObject => ({
  contentBlockStart: { contentBlockIndex, start: { toolUse } },
})
export const converseStop = (contentBlockIndex: number): JsonObject => ({
  contentBlockStop: { contentBlockIndex },
})
/** How Converse ends. */
export const converseEnd = (stopReason: string): JsonObject[] => [
  { messageStop: { stopReason } },
  { metadata: { usage: { inputTokens: counted.input, outputTokens: counted.output } } },
]

function converseEvents(piece: Piece, at: number): JsonObject[] {
  const delta = (own: JsonObject) => converseDelta(at, own)
  if (piece.kind === 'text')
    return [...piece.texts.map((text) => delta({ text })), converseStop(at)]
  if (piece.kind === 'thought') {
    const { texts, signature, data } = piece
    const reasons: JsonObject[] = texts.map((text) => ({ text }))
    if (signature !== undefined) reasons.push({ signature })
    if (data !== undefined) reasons.push({ redactedContent: data })
    return [...reasons.map((reasoningContent) => delta({ reasoningContent })), converseStop(at)]
  }
  const { id: toolUseId, name, texts } = piece
  return [
    converseStart(at, { toolUseId, name }),
    ...texts.map((input) => delta({ toolUse: { input } })),
    converseStop(at),
  ]
}

const bedrock = (scene: Scene): Spoken => [
  { messageStart: { role: 'assistant' } },
  ...numbered(scene).flatMap(({ piece, position }) => converseEvents(piece, position)),
  ...converseEnd(messageReasons[scene.finish]),
]

/** A part of what Cohere says. */
export const cohereCall = (kind: 'start' | 'delta', index: number, tool_calls: JsonObject) => ({
  type: `tool-call-${kind}`,
  index,
  delta: { message: { tool_calls } },
})
/** How Cohere ends. */
export const cohereEnd = (finish_reason: string): JsonObject => ({
  type: 'message-end',
  delta: {
    finish_reason,
    usage: { tokens: { input_tokens: counted.input, output_tokens: counted.output } },
  },
})
export const cohereContent = (content: JsonObject): JsonObject => ({
  type: 'content-delta',
  index: 0,
  delta: { message: { content } },
})

function cohereEvents(piece: Piece, index: number): JsonObject[] {
  if (piece.kind === 'text') return piece.texts.map((text) => cohereContent({ text }))
  if (piece.kind === 'thought') return piece.texts.map((thinking) => cohereContent({ thinking }))
  const { id, name, texts } = piece
  const [first = '', ...rest] = texts
  const begun = { id, type: 'function', function: { name, arguments: first } }
  return [
    cohereCall('start', index, begun),
    ...rest.map((more) => cohereCall('delta', index, { function: { arguments: more } })),
    { type: 'tool-call-end', index },
  ]
}

const cohere = (scene: Scene): Spoken => [
  { type: 'message-start', id: 'm', delta: { message: { role: 'assistant' } } },
  ...numbered(scene).flatMap(({ piece, at }) => cohereEvents(piece, at)),
  cohereEnd({ stop: 'COMPLETE', calls: 'TOOL_CALL', length: 'MAX_TOKENS' }[scene.finish]),
]

const googleReasons = { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS' } as const
const googleUsage = { promptTokenCount: counted.input, candidatesTokenCount: counted.output }

/** An event of Gemini. */
export const googleEvent = (parts: readonly JsonObject[], rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, ...rest }],
})
/** How Gemini ends. */
export const googleEnd = (finishReason: string, parts: readonly JsonObject[] = []): JsonObject => ({
  ...googleEvent(parts, { finishReason }),
  usageMetadata: googleUsage,
})

/** The parts of Gemini for a piece. A signature comes with a text or a call; a call that was cut goes on elsewhere. */
export function googleParts(piece: Piece): JsonObject[] {
  if (piece.kind === 'text') return piece.texts.map((text) => ({ text }))
  if (piece.kind === 'thought') {
    const thoughtSignature = piece.signature ?? piece.data
    const shown: JsonObject[] = piece.texts.map((text) => ({ text, thought: true }))
    return thoughtSignature === undefined ? shown : [...shown, { text: '', thoughtSignature }]
  }
  const { id, name } = piece
  if (joined(piece) === '') return [{ functionCall: { id, name } }]
  const args = inputOf(piece)
  return [{ functionCall: args ? { id, name, args } : { id, name, willContinue: true } }]
}

const google = (scene: Scene): Spoken => [
  ...scene.pieces.flatMap((piece) => googleParts(piece).map((part) => googleEvent([part]))),
  googleEnd(googleReasons[scene.finish]),
]

/** The stream by which each dialect says a scene. */
export const spoken = { openai, responses: spokenResponse, anthropic, google, bedrock, cohere }
export type Dialect = keyof typeof spoken
