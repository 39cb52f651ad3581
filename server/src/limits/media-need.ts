/** The units of rate limits of requests for images and sound, beside requests and tokens. */
export type MediaUnit = 'images' | 'audioSeconds'

/** The images, or the seconds of sound, that a request needs at most, as far as they are known before it is sent. */
export interface MediaNeed {
  unit: MediaUnit
  amount: number
}

/** The images that an answer has, and the milliseconds of sound that it transcribed or spoke. */
export interface MediaUse {
  madeImages?: number | undefined
  audioMs?: number | undefined
  spokenMs?: number | undefined
}

/** A text has no length in seconds before it is spoken: one is reserved, and the others are counted at the end. */
const reservedSpeechSeconds = 1

/** Returns the need of a request for images: one where it names no number. Source: contract 3.1. */
export const toImageNeed = (count: number | null | undefined): MediaNeed => ({
  unit: 'images',
  amount: count ?? 1,
})

/** Returns the need of a transcription by the upper bound of its sound. Source: contract 3.1. */
export const toSoundNeed = (ms: number): MediaNeed => ({
  unit: 'audioSeconds',
  amount: Math.max(1, Math.ceil(ms / 1000)),
})

/** The need of a text to be spoken. Source: contract 3.1. */
export const speechNeed: MediaNeed = { unit: 'audioSeconds', amount: reservedSpeechSeconds }

/** Returns the amount that counts in the end: no more images than requested, and all of the sound. */
export function countMedia({ unit, amount }: MediaNeed, use: MediaUse): number {
  if (unit === 'images') return Math.min(use.madeImages ?? 0, amount)
  return Math.ceil(((use.audioMs ?? 0) + (use.spokenMs ?? 0)) / 1000)
}
