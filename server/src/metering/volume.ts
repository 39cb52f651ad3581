import { mediaTokens, noMedia, type Media } from '../catalog/media-tokens'
import { serviceTiers, type Model, type ServiceTier } from '../catalog/model'
import { isImage, type EmbeddingInput } from '../wire/embedding-request'
import type { HostedUses } from '../wire/hosted-uses'
import { isObject, type JsonObject } from '../wire/json-body'
import { longestTokenBytes } from '../wire/text-size'
import { wantsEchoOnly } from '../wire/text-over-chat'
import { tokensAtMost } from './estimate'
import type { Volume } from './worst-case'

/** What is known of a request beside its body. */
interface Asked {
  /** Length of the body, in UTF-8. */
  bytes: number
  model: Pick<Model, 'upstreamModel' | 'contextLength' | 'maxOutputTokens'>
  /** The output limit that the caller set; zero and undefined are none. */
  outputLimit?: number | undefined
  /** Times that the whole prompt is sent: for a dialect that needs a request for each choice. */
  repeats?: number
  /** What tools that the provider runs can come to. */
  hosted?: HostedUses | undefined
  /** Whether the provider is sent the service tier that the request asks for; it is unless this says no. */
  sendsServiceTier?: () => boolean
}

/**
 * What providers put around every prompt, tokens that are billed and in no body: chat templates and
 * default system prompts (grok-4 some 680), and what explains tools (Anthropic up to 530).
 */
const templateTokens = 1024
const toolTemplateTokens = 1024

/** What an embedding model is told to do with each input, such as "Represent this document". */
const instructionTokens = 32

/** Of a model of which it is not known. */
const contextOfUnknown = 1_000_000

const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : 0)
const countOf = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 1)
const holdsObjects = (value: unknown) => Array.isArray(value) && value.some(isObject)

const noUses: HostedUses = { searches: 0, rounds: 0 }

const nothing: readonly JsonObject[] = []

/** The objects of a list; the list itself where there is nothing else in it. */
function listOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return nothing
  return value.every(isObject) ? value : value.filter(isObject)
}

/** The most that a chat request can make a model read and write. */
export function chatVolume(body: JsonObject, asked: Asked): Volume {
  const { bytes, model, repeats = 1 } = asked
  const { searches, rounds, maxContext = Infinity } = asked.hosted ?? noUses
  const messages = listOf(body['messages'])
  const { media, dataLength } = mediaOf(messages)
  // The JSON is never shorter than the texts in it; data of a part are no text.
  const textBytes = bytes - dataLength
  const hasTools = holdsObjects(body['tools']) || holdsObjects(body['functions'])
  const once =
    tokensAtMost(textBytes, messages.length) +
    templateTokens +
    (hasTools ? toolTemplateTokens : 0) +
    mediaTokens(media, model)
  const choices = countOf(body['n'])
  const first = withinContext(once, model)
  // After each use of a tool it reads the prompt again, and what was found.
  const longest = Math.max(first, Math.min(contextOf(model, once), maxContext))
  return {
    inputTokens: once * repeats + rounds * longest,
    longestPrompt: rounds > 0 ? longest : first,
    serviceTier: serviceTierOf(body, asked.sendsServiceTier),
    choices,
    outputLimit: outputLimitFor(model, textBytes, asked.outputLimit),
    extraOutputTokens: choices * predictedTokens(body),
    hears: media.soundLengths.length + media.spokenTurns + media.fileLengths.length > 0,
    speaks: speaks(body),
    images: media.images * repeats,
    requests: repeats,
    searches,
  }
}

/** The longest prompt that a model reads. */
const contextOf = ({ contextLength }: Asked['model'], tokens: number): number =>
  contextLength ?? Math.max(tokens, contextOfUnknown)

const withinContext = (tokens: number, { contextLength }: Asked['model']): number =>
  contextLength === null ? tokens : Math.min(tokens, contextLength)

/** The service tier that a provider is asked for, where that is one with prices of its own. */
function serviceTierOf(
  { service_tier: asked }: JsonObject,
  isSent: Asked['sendsServiceTier'],
): ServiceTier | undefined {
  const tier = serviceTiers.find((known) => known === asked)
  return tier === undefined || isSent?.() === false ? undefined : tier
}

const speaks = ({ modalities }: JsonObject) =>
  Array.isArray(modalities) && modalities.includes('audio')

/** Tokens of a prediction that the model rejects are billed as output, beside its own. */
const predictedTokens = ({ prediction }: JsonObject) =>
  prediction ? Buffer.byteLength(JSON.stringify(prediction)) : 0

interface Shown {
  media: Media
  /** Of the body, what is data of media and no text. */
  dataLength: number
}

const nothingShown: Shown = { media: noMedia, dataLength: 0 }

const isText = ({ content, audio }: JsonObject) => !Array.isArray(content) && !isObject(audio)
const partsOf = ({ content }: JsonObject) => listOf(content)

/** Of all messages; most are a text and nothing else, and nothing is made for them. */
function mediaOf(messages: readonly JsonObject[]): Shown {
  if (messages.every(isText)) return nothingShown
  const soundLengths: number[] = []
  const fileLengths: number[] = []
  let images = 0
  let imageLength = 0
  for (const part of messages.flatMap(partsOf)) {
    const { image_url: image, input_audio: sound, file } = part
    if (part['type'] === 'image_url') {
      images += 1
      const url = isObject(image) ? image['url'] : undefined
      if (typeof url === 'string' && url.startsWith('data:')) imageLength += url.length
    }
    if (part['type'] === 'input_audio')
      soundLengths.push(lengthOf(isObject(sound) && sound['data']))
    if (part['type'] === 'file') fileLengths.push(lengthOf(isObject(file) && file['file_data']))
  }
  const spokenTurns = messages.filter(({ audio }) => isObject(audio)).length
  const lengths = [imageLength, ...soundLengths, ...fileLengths]
  const dataLength = lengths.reduce((total, length) => total + length, 0)
  return { media: { images, soundLengths, spokenTurns, fileLengths }, dataLength }
}

/** The most that a legacy completion can make a model read and write, native or as a chat. */
export function completionVolume(
  body: JsonObject,
  { model, outputLimit, sendsServiceTier }: Omit<Asked, 'bytes' | 'repeats'>,
): Volume {
  const prompts = promptsOf(body['prompt'])
  // What is beside the prompts, a suffix above all, goes with each of them.
  const shared = Buffer.byteLength(JSON.stringify({ ...body, prompt: undefined }))
  const perPrompt = tokensAtMost(shared) + templateTokens
  const choices = prompts.count * Math.max(countOf(body['n']), countOf(body['best_of']))
  return {
    inputTokens: prompts.tokens + prompts.count * perPrompt,
    longestPrompt: withinContext(prompts.longest + perPrompt, model),
    serviceTier: serviceTierOf(body, sendsServiceTier),
    choices,
    // To be told nothing, a chat model is asked for one token.
    outputLimit: wantsEchoOnly(body) ? 1 : outputLimitFor(model, prompts.longest, outputLimit),
    extraOutputTokens: choices * predictedTokens(body),
    hears: false,
    speaks: speaks(body),
    images: 0,
    requests: prompts.count,
    searches: 0,
  }
}

/** What is known of a request for embeddings beside its inputs. */
interface AskedEmbeddings {
  model: Pick<Model, 'upstreamModel' | 'contextLength'>
  /** Token ids become text again, which another model may divide into as many tokens as it has bytes. */
  decodes: boolean
  /** Its batches. */
  requests: number
}

/** The most that an embedding request can make a model read. */
export function embeddingVolume(
  inputs: EmbeddingInput,
  { model, decodes, requests }: AskedEmbeddings,
): Volume {
  let tokens = inputs.length * instructionTokens
  let images = 0
  for (const item of inputs) {
    if (isIds(item)) tokens += item.length * (decodes ? longestTokenBytes : 1)
    else if (typeof item === 'string') tokens += Buffer.byteLength(item)
    else {
      for (const part of item.parts) {
        if (isImage(part)) images += 1
        else tokens += Buffer.byteLength(part.text)
      }
    }
  }
  const inputTokens = tokens + mediaTokens(images > 0 ? { ...noMedia, images } : noMedia, model)
  return {
    inputTokens,
    longestPrompt: inputTokens,
    serviceTier: undefined,
    choices: 0,
    outputLimit: 0,
    extraOutputTokens: 0,
    hears: false,
    speaks: false,
    images,
    requests,
    searches: 0,
  }
}

const isIds = (item: EmbeddingInput[number]): item is readonly number[] => Array.isArray(item)

/** Texts or token ids: how many there are, their tokens at most, and those of the longest. */
function promptsOf(prompt: unknown) {
  const items: unknown[] = Array.isArray(prompt) ? prompt : [prompt]
  if (typeof items[0] === 'number') {
    return { count: 1, tokens: items.length, longest: items.length }
  }
  const sizes = items.map((item) =>
    Array.isArray(item) ? item.length : Buffer.byteLength(String(item)),
  )
  const tokens = sizes.reduce((total, size) => total + size, 0)
  return { count: items.length, tokens, longest: Math.max(0, ...sizes) }
}

// Tokens of text have more bytes than this in nearly all scripts; too few would cut answers short.
const fewBytesPerToken = 2
const usualLimit = 4096
/** The output limit of a model of which none is known. */
export const outputLimitOfUnknown = 8192

/**
 * The output limit of each answer: as asked, else the model's own. That one must leave room for the
 * prompt, since many servers refuse a limit that would not fit beside it.
 */
function outputLimitFor(
  { maxOutputTokens, contextLength }: Asked['model'],
  promptBytes: number,
  asked: number | undefined,
): number {
  if (asked) return asked
  if (contextLength === null) return maxOutputTokens ?? outputLimitOfUnknown
  const most = maxOutputTokens ?? contextLength
  const room = contextLength - Math.ceil(promptBytes / fewBytesPerToken)
  return Math.max(Math.min(most, room), Math.min(most, usualLimit))
}
