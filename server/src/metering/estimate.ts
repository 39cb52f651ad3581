import {
  hasImage,
  isImage,
  isTokenInput,
  partsOf,
  type EmbeddingInput,
} from '../wire/embedding-request'
import { isNonEmptyText, isObject, type JsonObject } from '../wire/json-body'
import { maxTokenBytes, TextSize } from '../wire/text-size'
import { noUsage, type Usage } from '../wire/usage'
import { limitUsage, type TokenLimits } from './worst-case'

/**
 * Estimates and bounds of a prompt's tokens from its bytes alone. All byte counts are of UTF-8. The JSON of a
 * request is never shorter than the texts in it, so its length may stand in where an upper bound is wanted.
 */

// Tokens that dialects add around each message and around a whole conversation; 3 to 5 in the known ones.
const messageOverhead = 8

/** Returns the most tokens that `bytes` of text in `messages` can have: a token is at least one byte. */
export const maxTokensOf = (bytes: number, messages = 1): number =>
  bytes + messageOverhead * (messages + 1)

/**
 * Returns the fewest tokens that `bytes` of text can have, in OpenAI's vocabularies; others may have longer
 * tokens.
 */
export const tokensAtLeast = (bytes: number): number => Math.ceil(bytes / maxTokenBytes)

/**
 * Returns whether a prompt of texts is within `limit` tokens whatever its content, so that nothing need be
 * counted. For images, audio and files bytes prove nothing: see `PromptTexts.media`.
 */
export const certainlyFits = (bytes: number, limit: number, messages = 1): boolean =>
  maxTokensOf(bytes, messages) <= limit

/** Returns whether a prompt of texts is beyond `limit` tokens whatever its content. */
export const certainlyExceeds = (bytes: number, limit: number): boolean =>
  tokensAtLeast(bytes) > limit

/** The fields of an OpenAI chat request that become prompt tokens, as received. */
export interface ChatPrompt {
  messages: readonly PromptMessage[]
  tools?: readonly unknown[] | null | undefined
  functions?: readonly unknown[] | null | undefined
  response_format?: unknown
}

interface PromptMessage {
  content?: unknown
  name?: unknown
  refusal?: unknown
  reasoning_content?: unknown
  tool_calls?: unknown
  function_call?: unknown
}

/** The countable content of a chat request. */
export interface PromptTexts {
  texts: string[]
  messages: number
  /** The number of parts that are not text: images, audio, files. Their tokens are in no text. */
  media: number
}

/** Returns the text of a part, undefined for one that holds something else. */
function textOf(part: unknown): string | undefined {
  if (!isObject(part)) return undefined
  if (part.type === 'text' && typeof part.text === 'string') return part.text
  if (part.type === 'refusal' && typeof part.refusal === 'string') return part.refusal
  return undefined
}

/** Models read objects in a notation of their own; their JSON has about as many tokens. */
const asJson = (value: unknown): string[] =>
  value === undefined || value === null ? [] : [JSON.stringify(value)]

/** Collects the texts of a chat request that count as prompt: messages, tool calls, tools and a wanted schema. */
export function collectPromptTexts(request: ChatPrompt): PromptTexts {
  const texts: string[] = []
  let media = 0
  for (const message of request.messages) {
    const { content, name, refusal, reasoning_content: reasoning } = message
    texts.push(...[content, name, refusal, reasoning].filter(isNonEmptyText))
    for (const part of Array.isArray(content) ? content : []) {
      const text = textOf(part)
      if (text === undefined) media += 1
      else texts.push(text)
    }
    texts.push(...asJson(message.tool_calls), ...asJson(message.function_call))
  }
  const { tools, functions, response_format: format } = request
  texts.push(...[tools, functions, format].flatMap(asJson))
  return { texts, messages: request.messages.length, media }
}

// Prose has about as many tokens as words and punctuation marks, code and JSON fewer; by bytes it is the other way
// round, and plain words differ from rare ones. The mean is within 15 % for all of them.
const usualBytesPerToken = 4.6

/** The usual tokens of a message around its text, of an image, and of a conversation's opening. */
const usualMessageTokens = 4
export const usualMediaTokens = 1000

const tokensOf = ({ bytes, words, tokensAtLeast: minTokens = 0 }: Size) =>
  Math.max(minTokens, Math.ceil((bytes / usualBytesPerToken + words) / 2))

type Size = Pick<TextSize, 'bytes' | 'words'> & Partial<Pick<TextSize, 'tokensAtLeast'>>

/** Of longer prompts only this much is read, in evenly spread pieces: reading blocks all requests. */
const maxMeasured = 262_144
const pieceLength = 1024

function sizeOf(texts: readonly string[]): Size {
  const size = new TextSize()
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length <= maxMeasured) {
    for (const text of texts) size.add(`${text}\n`)
    return size
  }
  const step = Math.ceil((pieceLength * length) / maxMeasured)
  let measuredLength = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; at += step) {
      const piece = text.slice(at, at + pieceLength)
      measuredLength += piece.length
      size.add(`${piece}\n`)
    }
  }
  const ratio = length / measuredLength
  return { bytes: size.bytes * ratio, words: size.words * ratio }
}

/** The bytes that each requested log probability adds to a token of an answer. */
const probabilityBytes = 48

/** Estimates the tokens in that many bytes of an answer to a request. */
export function estimateOutputTokens(
  bytes: number,
  { logprobs, top_logprobs: top }: JsonObject,
): number {
  const listedCount = typeof top === 'number' ? top : typeof logprobs === 'number' ? logprobs : 0
  const isListed = logprobs !== undefined && logprobs !== null && logprobs !== false
  const perToken = usualBytesPerToken + (isListed ? probabilityBytes * (listedCount + 1) : 0)
  return Math.ceil(bytes / perToken)
}

// Reading a megabyte takes some milliseconds of the event loop.
const maxReadChars = 256 * 1024
const sampleChars = 8 * 1024

/** Estimates the tokens of texts by their length alone. Of long texts it reads samples, evenly spread. */
export function estimateTexts(texts: readonly string[]): number {
  const chars = texts.reduce((sum, text) => sum + text.length, 0)
  if (chars <= maxReadChars) return tokensOf(sizeOf(texts))
  const all = texts.join('\n')
  const samples: string[] = []
  const stepChars = (all.length * sampleChars) / maxReadChars
  for (let at = 0; at < all.length; at += stepChars) {
    const start = Math.floor(at)
    samples.push(all.slice(start, start + sampleChars))
  }
  const readChars = samples.reduce((sum, sample) => sum + sample.length, 0)
  return Math.ceil((tokensOf(sizeOf(samples)) * all.length) / readChars)
}

/** Estimates the tokens of a chat request outside its texts. */
export const estimateAround = ({ messages, media }: Omit<PromptTexts, 'texts'>): number =>
  usualMessageTokens * (messages + 1) + usualMediaTokens * media

/** Estimates the tokens of a request's prompt by its length alone, on every endpoint. */
export function estimatePrompt(body: JsonObject): number {
  const { messages, prompt, input } = body
  if (Array.isArray(messages)) {
    const requestedTexts = collectPromptTexts({ ...body, messages: messages.filter(isObject) })
    return tokensOf(sizeOf(requestedTexts.texts)) + estimateAround(requestedTexts)
  }
  // Texts, or token ids, in one list or in several.
  const items: unknown[] = [prompt ?? input ?? []].flat(2)
  const texts = items.filter((item) => typeof item === 'string')
  return tokensOf(sizeOf(texts)) + items.length - texts.length
}

/**
 * Estimates a usage by length alone, for a provider that does not count; marked as estimated. The last resort, so
 * it never exceeds what the request could use.
 */
export function estimateUsage(
  sizes: { promptTokens: number; output?: Size },
  limits?: TokenLimits,
): Usage {
  const usage = {
    ...noUsage,
    input: sizes.promptTokens,
    output: sizes.output ? tokensOf(sizes.output) : 0,
    estimated: true,
  }
  return limits ? limitUsage(usage, limits) : usage
}

/** Estimates a usage of embeddings by the length of their texts, for a provider that does not count. */
export function estimateInputs(
  inputs: EmbeddingInput,
  { isPaidByImage }: { isPaidByImage: boolean },
): Usage {
  if (isTokenInput(inputs)) return estimateUsage({ promptTokens: inputs.flat().length })
  const parts = inputs.flatMap(partsOf)
  const texts = parts.flatMap((part) => (isImage(part) ? [] : [part.text]))
  const images = isPaidByImage ? 0 : parts.length - texts.length
  const ofTexts = texts.length > 0 ? tokensOf(sizeOf(texts)) : 0
  return estimateUsage({ promptTokens: ofTexts + images * usualMediaTokens })
}

/** Estimates the tokens of a request for embeddings by its length; looks for images only in a long one. */
export function estimateInputTokens(bytes: number, inputs: () => EmbeddingInput): number {
  if (bytes <= shortBytes) return roughTokens(bytes)
  const all = inputs()
  if (isTokenInput(all) || !all.some(hasImage)) return roughTokens(bytes)
  const parts = all.flatMap(partsOf)
  const texts = parts.flatMap((part) => (isImage(part) ? [] : [Buffer.byteLength(part.text)]))
  const textBytes = texts.reduce((sum, size) => sum + size, 0)
  return roughTokens(textBytes) + (parts.length - texts.length) * usualMediaTokens
}

/** Estimates tokens of text by length alone: cheap enough for every request where the figure is corrected later. */
export const roughTokens = (bytes: number): number => Math.ceil(bytes / usualBytesPerToken)

/** Estimates the characters of that many tokens: those of most prompts are a byte. */
export const roughCharacters = (tokens: number): number => Math.ceil(tokens * usualBytesPerToken)

// A request up to this length is nearly all text, or too short for the difference to matter.
const shortBytes = 16_384

/**
 * Estimates the tokens of a prompt by the length of its request. Parses a long one: an image in base64 has a
 * hundred times the bytes of its tokens.
 */
export function estimatePromptTokens(
  bytes: number,
  prompt: () => Pick<PromptTexts, 'texts' | 'media'>,
): number {
  if (bytes <= shortBytes) return roughTokens(bytes)
  const { texts, media } = prompt()
  const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  return roughTokens(textBytes) + media * usualMediaTokens
}
