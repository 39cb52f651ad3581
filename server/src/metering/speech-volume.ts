import { estimatePrompt } from './estimate'
import { boundInputs } from './volume'
import type { TokenBounds } from './worst-case'
import type { Model, Pricing } from '../catalog/model'
import { bytesPerSecond, type SpeechFormat } from '../wire/speech-format'
import { noUsage, type Usage } from '../wire/usage'

/** A text to be spoken. */
export interface Speech {
  input: string
  instructions?: string | null | undefined
  speed?: number | null | undefined
}

/** Tokens of a second of sound: those of Gemini. https://ai.google.dev/gemini-api/docs/speech-generation */
const tokensPerSecond = 25
/** The longest sound of a byte of text, in seconds at the usual speed, and what may stand around all of it. */
const maxSecondsPerByte = 0.5
const maxSilenceSeconds = 10
/** Tokens around the text, such as the instruction to speak it. */
const templateTokens = 128

/** Bounds the tokens that a text and its sound can have: the longest sound, or the model's own limit. */
export function boundSpeech(
  { input, instructions, speed }: Speech,
  { maxOutputTokens }: Pick<Model, 'maxOutputTokens'>,
): TokenBounds {
  const inputBytes = Buffer.byteLength(input)
  const inputTokens = inputBytes + Buffer.byteLength(instructions ?? '') + templateTokens
  const seconds = (inputBytes * maxSecondsPerByte) / Math.min(1, speed ?? 1) + maxSilenceSeconds
  const maxTokens = Math.ceil(seconds * tokensPerSecond)
  return {
    ...boundInputs({ inputTokens, images: 0, requests: 1, searches: 0 }),
    outputsAudio: true,
    // A shorter sound cannot be requested: all of it is held.
    extraOutputTokens: Math.min(maxTokens, maxOutputTokens ?? maxTokens),
  }
}

/** Whether a price charges tokens, which then must be reported, or estimated. */
export const isPricedByToken = (pricing: Pricing | null): boolean =>
  pricing !== null && pricing.input + pricing.output + (pricing.audioOutput ?? 0n) > 0n

/** Estimates the usage of sound by its bytes, for a provider that does not count. */
export function estimateSpeech(
  { input, instructions }: Speech,
  { format, bytes }: { format: SpeechFormat; bytes: number },
): Usage {
  const prompt = instructions ? [instructions, input] : [input]
  return {
    ...noUsage,
    input: estimatePrompt({ input: prompt }),
    audioOutput: Math.ceil((bytes / bytesPerSecond[format]) * tokensPerSecond),
    estimated: true,
  }
}
