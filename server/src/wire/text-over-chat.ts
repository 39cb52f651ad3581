import type { Identity } from './answer'
import type { CompletionRequest } from './completion-request'
import { isObject, type JsonObject, toText } from './json-body'

/** Fields of a legacy completion that a chat request does not have. */
const notInChat = new Set(['prompt', 'echo', 'suffix', 'best_of', 'logprobs'])

/** The prompts of a legacy completion, as texts; undefined where one is an array of token ids. */
export function readPromptTexts(prompt: CompletionRequest['prompt']): string[] | undefined {
  if (typeof prompt === 'string') return [prompt]
  const texts: string[] = []
  for (const item of prompt) {
    if (typeof item !== 'string') return undefined
    texts.push(item)
  }
  return texts
}

/** Returns whether a legacy completion wants its prompt back, and no output at all. Source: contract 4.4. */
export const wantsEchoOnly = (completion: JsonObject) =>
  completion['echo'] === true && completion['max_tokens'] === 0

/** Returns the chat request that stands in for one prompt, which becomes a user's message. */
export function toChatBody(completion: JsonObject, prompt: string): JsonObject {
  const chat: JsonObject = {}
  for (const [name, value] of Object.entries(completion)) {
    if (!notInChat.has(name)) chat[name] = value
  }
  // Chat models refuse a limit of no tokens; the one token is paid for and left out.
  if (wantsEchoOnly(completion)) chat['max_tokens'] = 1
  return { ...chat, messages: [{ role: 'user', content: prompt }] }
}

const isReportedReason = (reason: unknown) => reason === 'length' || reason === 'content_filter'

/** A choice of a chat completion as one of a legacy completion. */
export function toTextChoice(choice: JsonObject, index: number, echo: Echo): JsonObject {
  const message = isObject(choice['message']) ? choice['message'] : {}
  const text = echo.isAll ? '' : toText(message['content'])
  const finish_reason = toTextFinish(choice['finish_reason'], echo.isAll)
  return { text: echo.before + text, index, logprobs: null, finish_reason }
}

/** The prompt in front of a text: none of it, or with nothing behind it. */
interface Echo {
  before: string
  isAll: boolean
}

function toTextFinish(finish: unknown, isEchoOnly: boolean) {
  if (isEchoOnly) return 'length'
  return isReportedReason(finish) ? finish : 'stop'
}

/** The position of a chunk among those of several prompts. */
interface ChoicePosition {
  /** Added to the index of its choice. */
  offset: number
  /** By index: the text before the first text of a choice. */
  echo: Map<number, string>
  /** The prompts are all that is wanted. */
  echoOnly: boolean
}

/** A chunk of a chat stream as one of a legacy stream; undefined for one without text and end. */
export function toTextChunk(
  chunk: string,
  identity: Identity,
  place: ChoicePosition,
): string | undefined {
  const read: unknown = JSON.parse(chunk)
  const choices = isObject(read) && Array.isArray(read['choices']) ? read['choices'] : []
  const [choice] = choices.filter(isObject)
  if (!choice) return undefined
  const index = place.offset + Number(choice['index'] ?? 0)
  const finish = choice['finish_reason']
  const delta = isObject(choice['delta']) ? choice['delta'] : {}
  const answerText = place.echoOnly ? '' : toText(delta['content'])
  const text = (place.echo.get(index) ?? '') + answerText
  if (text === '' && typeof finish !== 'string') return undefined
  place.echo.delete(index)
  const finish_reason = typeof finish === 'string' ? toTextFinish(finish, place.echoOnly) : null
  return JSON.stringify({ ...identity, choices: [{ text, index, logprobs: null, finish_reason }] })
}
