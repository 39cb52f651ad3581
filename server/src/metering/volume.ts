import { boundMediaTokens, noMedia } from '../catalog/media-tokens'
import { serviceTiers, type Model, type ServiceTier } from '../catalog/model'
import { isImage, type EmbeddingInput } from '../wire/embedding-request'
import type { HostedUses } from '../wire/hosted-uses'
import { isObject, toObjects, type JsonObject } from '../wire/json-body'
import { maxTokenBytes } from '../wire/text-size'
import { wantsEchoOnly } from '../wire/text-over-chat'
import { maxTokensOf } from './estimate'
import { hasSound, measureMedia } from './media-volume'
import type { TokenBounds } from './worst-case'

/** The facts of a request beside its body. */
interface BoundedRequest {
  /** The length of the body, in UTF-8. */
  bytes: number
  model: Pick<Model, 'upstreamModel' | 'contextLength' | 'maxOutputTokens'> &
    Partial<Pick<Model, 'category'>>
  /** The caller's output limit; zero and undefined are none. */
  outputLimit?: number | undefined
  /** The number of times that the whole prompt is sent: for a dialect that needs a request for each choice. */
  repeats?: number
  /** The possible uses of tools that the provider runs. */
  hostedUses?: HostedUses | undefined
  /** Returns whether the request's service tier is sent to the provider; by default it is. */
  sendsServiceTier?: () => boolean
}

/**
 * Billed tokens that providers put around every prompt and that are in no body: chat templates and default system
 * prompts (grok-4 some 680), and explanations of tools (Anthropic up to 530).
 */
const templateTokens = 1024
const toolTemplateTokens = 1024

/** The instruction that an embedding model gets with each input, such as "Represent this document". */
const instructionTokens = 32

/** For a model with an unknown context. */
const contextOfUnknown = 1_000_000

const countOf = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 1)
const holdsObjects = (value: unknown) => Array.isArray(value) && value.some(isObject)

const noHostedTools: HostedUses = { searches: 0, rounds: 0 }

/** Bounds the tokens that a chat request can make a model read and write. */
export function boundChat(body: JsonObject, request: BoundedRequest): TokenBounds {
  const { bytes, model, repeats = 1 } = request
  const { searches, rounds, maxContext = Infinity } = request.hostedUses ?? noHostedTools
  const messages = toObjects(body['messages'])
  const { media, dataLength } = measureMedia(messages)
  // The JSON is never shorter than the texts in it; media data in a part is not text.
  const textBytes = bytes - dataLength
  const hasTools = holdsObjects(body['tools']) || holdsObjects(body['functions'])
  const tokensPerRead =
    maxTokensOf(textBytes, messages.length) +
    templateTokens +
    (hasTools ? toolTemplateTokens : 0) +
    boundMediaTokens(media, model)
  const choices = countOf(body['n'])
  const first = clampToContext(tokensPerRead, model)
  // After each use of a tool the model reads the prompt again, with the results.
  const maxPrompt = Math.max(first, Math.min(contextOf(model, tokensPerRead), maxContext))
  return {
    inputTokens: tokensPerRead * repeats + rounds * maxPrompt,
    maxPromptTokens: rounds > 0 ? maxPrompt : first,
    serviceTier: serviceTierOf(body, request.sendsServiceTier),
    choices,
    outputLimit: outputLimitFor(model, textBytes, request.outputLimit),
    extraOutputTokens: choices * predictedTokens(body),
    inputsAudio: hasSound(media),
    outputsAudio: outputsAudio(body) || model.category === 'speech',
    images: media.images * repeats,
    requests: repeats,
    searches,
  }
}

/** Returns the longest prompt that a model reads. */
const contextOf = ({ contextLength }: BoundedRequest['model'], tokens: number): number =>
  contextLength ?? Math.max(tokens, contextOfUnknown)

const clampToContext = (tokens: number, { contextLength }: BoundedRequest['model']): number =>
  contextLength === null ? tokens : Math.min(tokens, contextLength)

/** Returns the requested service tier, where it is sent and can have prices of its own. */
function serviceTierOf(
  { service_tier: requestedTier }: JsonObject,
  isSent: BoundedRequest['sendsServiceTier'],
): ServiceTier | undefined {
  const tier = serviceTiers.find((serviceTier) => serviceTier === requestedTier)
  return tier === undefined || isSent?.() === false ? undefined : tier
}

const outputsAudio = ({ modalities }: JsonObject) =>
  Array.isArray(modalities) && modalities.includes('audio')

/** Tokens of a prediction that the model rejects are billed as output, beside its own. */
const predictedTokens = ({ prediction }: JsonObject) =>
  prediction ? Buffer.byteLength(JSON.stringify(prediction)) : 0

/** Bounds the tokens that a legacy completion can make a model read and write, native or as a chat. */
export function boundCompletion(
  body: JsonObject,
  { model, outputLimit, sendsServiceTier }: Omit<BoundedRequest, 'bytes' | 'repeats'>,
): TokenBounds {
  const prompts = promptsOf(body['prompt'])
  // Content beside the prompts, a suffix above all, is sent with each of them.
  const sharedBytes = Buffer.byteLength(JSON.stringify({ ...body, prompt: undefined }))
  const perPrompt = maxTokensOf(sharedBytes) + templateTokens
  const choices = prompts.count * Math.max(countOf(body['n']), countOf(body['best_of']))
  return {
    inputTokens: prompts.tokens + prompts.count * perPrompt,
    maxPromptTokens: clampToContext(prompts.maxPrompt + perPrompt, model),
    serviceTier: serviceTierOf(body, sendsServiceTier),
    choices,
    // A chat model gets a limit of one token if the caller wants only the echo.
    outputLimit: wantsEchoOnly(body) ? 1 : outputLimitFor(model, prompts.maxPrompt, outputLimit),
    extraOutputTokens: choices * predictedTokens(body),
    inputsAudio: false,
    outputsAudio: outputsAudio(body),
    images: 0,
    requests: prompts.count,
    searches: 0,
  }
}

/** The facts of a request for embeddings beside its inputs. */
interface BoundedEmbeddings {
  model: Pick<Model, 'upstreamModel' | 'contextLength'>
  /** Token ids become text again, which another model may divide into as many tokens as it has bytes. */
  decodes: boolean
  /** The number of its batches. */
  requests: number
}

/** Bounds the tokens that an embedding request can make a model read. */
export function boundEmbedding(
  inputs: EmbeddingInput,
  { model, decodes, requests }: BoundedEmbeddings,
): TokenBounds {
  let tokens = inputs.length * instructionTokens
  let images = 0
  for (const item of inputs) {
    if (isIds(item)) tokens += item.length * (decodes ? maxTokenBytes : 1)
    else if (typeof item === 'string') tokens += Buffer.byteLength(item)
    else {
      for (const part of item.parts) {
        if (isImage(part)) images += 1
        else tokens += Buffer.byteLength(part.text)
      }
    }
  }
  const inputTokens =
    tokens + boundMediaTokens(images > 0 ? { ...noMedia, images } : noMedia, model)
  return boundInputs({ inputTokens, images, requests, searches: 0 })
}

/** The bounds of a request whose answer has no text. */
export const boundInputs = (
  inputs: Pick<TokenBounds, 'inputTokens' | 'images' | 'requests' | 'searches'>,
): TokenBounds => ({
  ...inputs,
  maxPromptTokens: inputs.inputTokens,
  serviceTier: undefined,
  choices: 0,
  outputLimit: 0,
  extraOutputTokens: 0,
  inputsAudio: false,
  outputsAudio: false,
})

const isIds = (item: EmbeddingInput[number]): item is readonly number[] => Array.isArray(item)

/** Measures texts or token ids: their number, their tokens at most, and those of the longest. */
function promptsOf(prompt: unknown) {
  const items: unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  if (typeof items[0] === 'number') {
    return { count: 1, tokens: items.length, maxPrompt: items.length }
  }
  const sizes = items.map((item) =>
    Array.isArray(item) ? item.length : Buffer.byteLength(String(item)),
  )
  const tokens = sizes.reduce((total, size) => total + size, 0)
  return { count: items.length, tokens, maxPrompt: Math.max(0, ...sizes) }
}

// Tokens of text have more bytes than this in nearly all scripts; too few would cut answers short.
const minBytesPerToken = 2
const usualLimit = 4096
/** The output limit of a model without a known one. */
export const outputLimitOfUnknown = 8192

/**
 * Returns the output limit of each answer: the caller's, else the model's own. The latter must leave room for the
 * prompt, since many servers reject a limit that would not fit beside it.
 */
function outputLimitFor(
  { maxOutputTokens, contextLength }: BoundedRequest['model'],
  promptBytes: number,
  requestedLimit: number | undefined,
): number {
  if (requestedLimit) return requestedLimit
  if (contextLength === null) return maxOutputTokens ?? outputLimitOfUnknown
  const limit = maxOutputTokens ?? contextLength
  const room = contextLength - Math.ceil(promptBytes / minBytesPerToken)
  return Math.max(Math.min(limit, room), Math.min(limit, usualLimit))
}
