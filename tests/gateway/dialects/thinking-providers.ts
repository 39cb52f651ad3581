import { answerOf, thought as encrypted } from './openai-answers'
import { jsonOf, type Json } from '../../providers/conformance/fixture'
import { frame, streamOf } from '../../providers/translated/aws-frames'
import { eventsOf, type ProviderRequest } from '../../providers/translated/front'

/** A provider whose model thinks, then calls `look`, and which wants the thought back with the result of the call. */
export interface ThinkingProvider {
  model: string
  /** No provider signs the thought: its text alone goes back. */
  isText?: boolean
  answer: (request: ProviderRequest) => Response
  /** The thought in a request for the next answer. */
  thoughtIn: (body: Json) => unknown
  thought: unknown
}

export const text = 'I must look.'
const half = text.length / 2
const args = '{"q":1}'
/** Longer than any bound on an id. */
export const longSignature = 'c2ln'.repeat(3000)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(jsonOf) : [])

const assistantIn = ({ messages }: Json): Json =>
  listOf(messages).find(({ role }) => role === 'assistant') ?? {}
const firstBlockIn = (body: Json): unknown => listOf(assistantIn(body)['content'])[0]

const tokens = { input_tokens: 9, output_tokens: 5 }

const anthropicDelta = (index: number, piece: Json) => ({
  type: 'content_block_delta',
  index,
  delta: piece,
})

/** An answer of Anthropic's, whole or as a stream. */
const byAnthropic =
  (thinking: string, signature: string) =>
  ({ body }: ProviderRequest): Response => {
    const thought = { type: 'thinking', thinking, signature }
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { q: 1 } }
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'theirs' }
    if (body['stream'] !== true) {
      const content = [thought, call]
      return Response.json({ ...head, content, stop_reason: 'tool_use', usage: tokens })
    }
    return eventsOf(
      { type: 'message_start', message: { ...head, content: [], usage: tokens } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { ...thought, thinking: '', signature: '' },
      },
      ...(thinking === '' ? [] : [anthropicDelta(0, { type: 'thinking_delta', thinking })]),
      anthropicDelta(0, { type: 'signature_delta', signature }),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { ...call, input: {} } },
      anthropicDelta(1, { type: 'input_json_delta', partial_json: args }),
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    )
  }

const event = (type: string, payload: Json) => frame('event', type, payload)
const bedrockDelta = (at: number, piece: Json) =>
  event('contentBlockDelta', { contentBlockIndex: at, delta: piece })

/** An answer of Claude on Bedrock, always a stream. */
function byBedrock(reasoningContent: Json): Response {
  const toolUse = { toolUseId: 'tooluse_1', name: 'look' }
  const usage = { inputTokens: 9, outputTokens: 5, totalTokens: 14 }
  return streamOf(
    ...Object.entries(reasoningContent).map(([name, value]) =>
      bedrockDelta(0, { reasoningContent: { [name]: value } }),
    ),
    event('contentBlockStop', { contentBlockIndex: 0 }),
    event('contentBlockStart', { contentBlockIndex: 1, start: { toolUse } }),
    bedrockDelta(1, { toolUse: { input: args } }),
    event('contentBlockStop', { contentBlockIndex: 1 }),
    event('messageStop', { stopReason: 'tool_use' }),
    event('metadata', { usage, metrics: { latencyMs: 1 } }),
  )()
}

const openAiCall = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look' }

const chunk = (delta: Json, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})

/** An answer in the chat format whose thoughts are these pieces, whole or as a stream. */
const inChat =
  (deltas: readonly Json[], message: Json) =>
  ({ body }: ProviderRequest): Response => {
    const call = { id: 'call_abc12', type: 'function', function: { name: 'look', arguments: args } }
    const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
    if (body['stream'] !== true) {
      const whole = { role: 'assistant', content: null, ...message, tool_calls: [call] }
      return Response.json({
        choices: [{ index: 0, message: whole, finish_reason: 'tool_calls' }],
        usage,
      })
    }
    return eventsOf(
      ...deltas.map((delta) => chunk(delta)),
      chunk({ tool_calls: [{ index: 0, ...call }] }),
      chunk({}, 'tool_calls'),
      { choices: [], usage },
      '[DONE]',
    )
  }

const inText = inChat(
  [{ reasoning_content: text.slice(0, half) }, { reasoning_content: text.slice(half) }],
  { reasoning_content: text },
)

const thinkingPart = (piece: string) => ({
  type: 'thinking',
  thinking: [{ type: 'text', text: piece }],
})

const format = 'anthropic-claude-v1'
const detail = { type: 'reasoning.text', format, index: 0 }

/** A call of Gemini's, whose signature goes back inside its id. */
function byGoogle(): Response {
  const functionCall = { name: 'look', args: { q: 1 } }
  const parts = [{ functionCall, thoughtSignature: longSignature }]
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 }
  return eventsOf({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata,
  })
}

const redacted = 'aGlkZGVu'

export const thinkingProviders: Readonly<Record<string, ThinkingProvider>> = {
  'Anthropic, signed': {
    model: 'anthropic/claude-thinks',
    answer: byAnthropic(text, 'c2ln'),
    thoughtIn: firstBlockIn,
    thought: { type: 'thinking', thinking: text, signature: 'c2ln' },
  },
  'Anthropic, signed without text': {
    model: 'anthropic/claude-thinks',
    answer: byAnthropic('', longSignature),
    thoughtIn: firstBlockIn,
    thought: { type: 'thinking', thinking: '', signature: longSignature },
  },
  'Claude on Bedrock, signed': {
    model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    answer: () => byBedrock({ text, signature: 'c2ln' }),
    thoughtIn: firstBlockIn,
    thought: { reasoningContent: { reasoningText: { text, signature: 'c2ln' } } },
  },
  'Claude on Bedrock, hidden': {
    model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    answer: () => byBedrock({ redactedContent: redacted }),
    thoughtIn: firstBlockIn,
    thought: { reasoningContent: { redactedContent: redacted } },
  },
  'OpenAI, encrypted': {
    model: 'openai/gpt-6-astra',
    answer: (seen) => answerOf(seen, encrypted, { ...openAiCall, arguments: args }),
    thoughtIn: ({ input }) => {
      const item = listOf(input).find(({ type }) => type === 'reasoning')
      return item?.['encrypted_content']
    },
    thought: encrypted.encrypted_content,
  },
  'OpenRouter, in fragments': {
    model: 'openrouter/maker/thinks',
    answer: inChat(
      [
        {
          reasoning: text.slice(0, half),
          reasoning_details: [{ ...detail, text: text.slice(0, half) }],
        },
        { reasoning: text.slice(half), reasoning_details: [{ ...detail, text: text.slice(half) }] },
        { reasoning_details: [{ ...detail, signature: 'c2ln' }] },
      ],
      { reasoning: text, reasoning_details: [{ ...detail, text, signature: 'c2ln' }] },
    ),
    thoughtIn: (body) => {
      const details = listOf(assistantIn(body)['reasoning_details'])
      const joined = (name: string) => details.map((piece) => textOf(piece[name])).join('')
      return [joined('text'), joined('signature'), assistantIn(body)['reasoning']]
    },
    thought: [text, 'c2ln', text],
  },
  'DeepSeek, text': {
    model: 'deepseek/thinks',
    isText: true,
    answer: inText,
    thoughtIn: (body) => assistantIn(body)['reasoning_content'],
    thought: text,
  },
  'Z.ai, text': {
    model: 'zai/thinks',
    isText: true,
    answer: inText,
    thoughtIn: (body) => assistantIn(body)['reasoning_content'],
    thought: text,
  },
  'Mistral, parts': {
    model: 'mistral/thinks',
    isText: true,
    answer: inChat(
      [
        { content: [thinkingPart(text.slice(0, half))] },
        { content: [thinkingPart(text.slice(half))] },
      ],
      { content: [thinkingPart(text)] },
    ),
    thoughtIn: firstBlockIn,
    thought: thinkingPart(text),
  },
  'Gemini, in the id of the call': {
    model: 'google/gemini-3.5-thinks',
    answer: byGoogle,
    thoughtIn: ({ contents }) => {
      const turn = listOf(contents).find(({ role }) => role === 'model')
      return listOf(turn?.['parts'])[0]?.['thoughtSignature']
    },
    thought: longSignature,
  },
}
