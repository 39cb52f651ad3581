import type { ChatRequest } from '../../wire/chat-request'
import type { JsonObject } from '../../wire/json-body'
import type { SoundFormat } from '../adapter'
import { unsupported } from '../unsupported-fields'

/** Kinds of answers that a chat can request of Gemini's models beside text. */
export const googleModalities = ['audio', 'image'] as const

/** Models that speak answer with sound alone: with text among the modalities, they refuse. */
const isSpeaker = (model: string) => /-tts(?:-|$)/.test(model)

const soundFormats: readonly SoundFormat[] = ['wav', 'pcm16']

const requestsSound = ({ modalities }: ChatRequest) => modalities?.includes('audio') === true

/**
 * Returns the settings for sound and images in an answer; none for text alone. The modalities must be one of the
 * combinations that a model has. Throws `invalid_request` for a voice that has no name.
 * @see https://ai.google.dev/api/generate-content#Modality
 * @see https://ai.google.dev/gemini-api/docs/speech-generation
 */
export function toModalities(chat: ChatRequest, upstreamModel: string): JsonObject {
  const modalities = new Set(chat.modalities)
  if (!googleModalities.some((name) => modalities.has(name))) return {}
  if (modalities.has('audio') && isSpeaker(upstreamModel)) modalities.delete('text')
  const responseModalities = [...modalities].map((name) => name.toUpperCase())
  const voiceName = requestsSound(chat) ? toVoiceName(chat.audio?.['voice']) : undefined
  return {
    responseModalities,
    ...(voiceName !== undefined && {
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
    }),
  }
}

function toVoiceName(voice: unknown): string | undefined {
  if (voice === undefined || voice === null || voice === '') return undefined
  if (typeof voice === 'string') return voice
  throw unsupported('audio.voice', 'audio.voice: this model takes the names of its own voices.')
}

/** Returns the format of the sound that a chat requests. Throws `invalid_request` for one that is not made from PCM. */
export function toSoundFormat(chat: ChatRequest): SoundFormat | undefined {
  if (!requestsSound(chat)) return undefined
  const requestedFormat = chat.audio?.['format'] ?? 'pcm16'
  const format = soundFormats.find((name) => name === requestedFormat)
  if (format) return format
  throw unsupported(
    'audio.format',
    `audio.format: this model makes ${soundFormats.join(' and ')} only.`,
  )
}
