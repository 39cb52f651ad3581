import type { HistoryRow, MessageOutcome, NewMessageText } from './conversation'
import type { SessionMessage, NewMessage } from './schema'
import type { SessionRow } from './session-rows'
import { storable } from '../platform/db/storable'
import { ApiError, invalidRequest } from '../errors'
import { isObject, type JsonObject, toObjects } from '../wire/json-body'
import { completionTokens, promptTokens, type Usage } from '../wire/usage'

/** Converts a stored message to the form that models take. */
const toWire = ({ role, content, tool_calls, tool_call_id }: HistoryRow): JsonObject => ({
  role,
  content,
  ...(tool_calls && { tool_calls }),
  ...(tool_call_id !== null && { tool_call_id }),
})

/** Converts a message that is not stored yet to the form that models take. */
export const toWireMessage = ({
  role,
  content,
  toolCalls,
  toolCallId,
}: NewMessageText): JsonObject =>
  toWire({ role, content, tool_calls: toolCalls ?? null, tool_call_id: toolCallId ?? null })

const noResult = 'Error: no result, because the message ended first.'

/**
 * Returns a history in the form that models take: each tool call is followed directly by its result. A call without
 * one was cut off by the end of its message, its session or its node.
 */
function answeredCalls(history: readonly HistoryRow[]): JsonObject[] {
  const all: JsonObject[] = []
  for (let at = 0; at < history.length;) {
    const row = history[at++]
    if (!row) break
    all.push(toWire(row))
    const open = (row.tool_calls ?? []).map(({ id }) => id)
    for (let next = history[at]; next?.role === 'tool'; next = history[++at]) {
      const toAnswerMessage = open.indexOf(next.tool_call_id)
      if (toAnswerMessage >= 0) open.splice(toAnswerMessage, 1)
      all.push(toWire(next))
    }
    for (const id of open) all.push({ role: 'tool', tool_call_id: id, content: noResult })
  }
  return all
}

type ChatBody = JsonObject & { messages: JsonObject[] }

/** Builds the chat of a message: the whole session, then the message. */
export function toChat(
  session: Pick<SessionRow, 'system_prompt' | 'model_id'>,
  history: readonly HistoryRow[],
  message: NewMessage,
): ChatBody {
  const { role, content, stream, temperature, max_tokens } = message
  const prompt = session.system_prompt
  return {
    model: session.model_id,
    messages: [
      ...(prompt ? [{ role: 'system', content: prompt }] : []),
      ...answeredCalls(history),
      { role, content },
    ],
    ...(typeof temperature === 'number' && { temperature }),
    ...(typeof max_tokens === 'number' && { max_tokens }),
    ...(stream && { stream }),
  }
}

/** Parses a chat as the gateway does. Throws `invalid_request` where it is too long. */
export function readAs(chat: JsonObject, limitBytes: number) {
  const bytes = Buffer.byteLength(JSON.stringify(chat))
  if (bytes > limitBytes) {
    const message = `messages: the session has ${bytes} bytes, which is too large to be sent.`
    throw invalidRequest('messages', 'too_long', message)
  }
  return { body: chat, bytes }
}

const allStorable = (_name: string, value: unknown) =>
  typeof value === 'string' ? storable(value) : value

/** Converts an answer to a message; undefined where the answer broke off before its first content. */
function toAnswerMessage(answer: JsonObject, tokens: number): NewMessageText | undefined {
  const choice: unknown = Array.isArray(answer['choices']) ? answer['choices'][0] : undefined
  if (!isObject(choice) || !isObject(choice['message'])) return undefined
  const { content, refusal, tool_calls } = choice['message']
  const answerText = [content, refusal].find((text) => typeof text === 'string')
  const finish = choice['finish_reason']
  const isComplete = typeof finish === 'string'
  // A cut answer may end within a tool call, and half a call must not be run.
  const hasCalls = isComplete && !/^(length|content_filter)$/.test(finish)
  const calls = hasCalls ? toObjects(tool_calls) : []
  if (answerText === undefined && calls.length === 0 && !isComplete) return undefined
  const toolCalls: JsonObject[] = JSON.parse(JSON.stringify(calls, allStorable))
  return {
    role: 'assistant',
    // An empty answer is valid, and a message must have content.
    content: typeof answerText === 'string' ? storable(answerText) : calls.length > 0 ? null : '',
    toolCalls: toolCalls.length > 0 ? toolCalls : undefined,
    tokens,
  }
}

/** Returns the share of a prompt's tokens that its last message has, by its length among all messages. */
function shareOf(messages: unknown, content: string, tokens: number): number {
  const all = toObjects(messages)
  const lengths = all.map((one) => (typeof one['content'] === 'string' ? one['content'].length : 0))
  const totalLength = lengths.reduce((sum, length) => sum + length, 0)
  return totalLength === 0 ? tokens : Math.round((tokens * content.length) / totalLength)
}

interface EndedModelCall {
  chat: JsonObject
  /** The user's message, where it is not stored yet. */
  message: Pick<NewMessage, 'role' | 'content'> | undefined
  /** Stored messages whose token counts are unknown. */
  uncounted?: readonly { id: string; content: string }[]
  answer: JsonObject
  usage: Usage | undefined
  cost: bigint
}

/** Returns the part of an ended model call to store: no message where there was no answer at all. */
export function toMessageOutcome(ended: EndedModelCall): MessageOutcome {
  const { chat, message, uncounted = [], answer, usage, cost } = ended
  const inputTokens = usage ? promptTokens(usage) : 0
  const outputTokens = usage ? completionTokens(usage) : 0
  const answerMessage = toAnswerMessage(answer, outputTokens)
  const share = (content: string) => shareOf(chat['messages'], content, inputTokens)
  const userMessage = message && {
    role: message.role,
    content: message.content,
    tokens: share(message.content),
  }
  return {
    messages: answerMessage ? [...(userMessage ? [userMessage] : []), answerMessage] : [],
    tokenCounts: new Map(uncounted.map(({ id, content }) => [id, share(content)])),
    inputTokens,
    outputTokens,
    cost,
  }
}

/** Builds the answer to a message that does not stream, from its stored messages. */
export function toExchange<Usage>(stored: readonly SessionMessage[], usage: Usage) {
  const [userMessage] = stored
  const assistantMessage = stored.at(-1)
  // The session was deleted when all but this was done.
  if (!userMessage || assistantMessage?.role !== 'assistant') {
    throw new ApiError('resource_not_found')
  }
  const toolMessages = stored.filter(({ role }) => role === 'tool')
  return { userMessage, assistantMessage, toolMessages, usage }
}
