import { estimateTexts, estimateUsage } from './estimate'
import { boundInputs } from './volume'
import type { TokenBounds } from './worst-case'
import type { SoundLength } from '../wire/uploaded-file'
import type { Usage } from '../wire/usage'

/** The facts of a transcription that its price depends on. */
export interface SoundVolume {
  sound: SoundLength
  /** The least that the provider bills. */
  minSeconds: number
  /** The texts beside the sound, and the voices that it is compared with, as base64. */
  textBytes: number
  voiceBytes: number
  /** The model may write the times of words among them. */
  hasWrittenTimes?: boolean
}

/** Gemini counts 32 tokens a second, OpenAI 10, all others fewer. */
const maxTokensPerSecond = 32
const usualTokensPerSecond = 10
/** Base64 of the lowest bit rate has some 1,000 characters a second. */
const voiceBytesPerToken = 30
/** Fast speech has five words a second, in scripts of which each has several tokens. */
const maxOutputPerSecond = 16
/** A word and its two times have at most four times the tokens of a word. */
const timedWords = 4
/** Instructions around the sound, and objects around its text. */
const templateTokens = 1024

/** Returns the time that is billed at most: providers round up to the second. */
const billedMs = ({ sound, minSeconds }: SoundVolume): number =>
  Math.max(Math.ceil(sound.ms / 1000), minSeconds) * 1000

/** Bounds the sound and the tokens that a transcription can cost. */
export function boundTranscription(volume: SoundVolume): TokenBounds {
  const audioMs = billedMs(volume)
  const seconds = Math.ceil(audioMs / 1000)
  const { textBytes, voiceBytes, hasWrittenTimes } = volume
  const outputPerSecond = maxOutputPerSecond * (hasWrittenTimes ? timedWords : 1)
  const inputTokens =
    seconds * maxTokensPerSecond +
    textBytes +
    Math.ceil(voiceBytes / voiceBytesPerToken) +
    templateTokens
  return {
    ...boundInputs({ inputTokens, images: 0, requests: 1, searches: 0 }),
    extraOutputTokens: seconds * outputPerSecond + templateTokens,
    inputsAudio: true,
    audioMs,
  }
}

/** Returns the time that is billed: what the provider reports, else what was measured, and never less than its least. */
export const audioMsOf = (
  { sound, minSeconds }: SoundVolume,
  reportedMs: number | undefined,
): number => Math.max(reportedMs ?? sound.ms, minSeconds * 1000)

/** Estimates the tokens of sound and of what was said in it, for a provider that does not count. */
export function estimateTranscription({ sound, textBytes }: SoundVolume, text: string): Usage {
  const audioInput = Math.ceil(sound.ms / 1000) * usualTokensPerSecond
  const output = text === '' ? 0 : estimateTexts([text])
  return { ...estimateUsage({ promptTokens: Math.ceil(textBytes / 4) }), audioInput, output }
}
