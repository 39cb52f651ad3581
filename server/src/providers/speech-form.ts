import type { RelayOptions } from './provider'
import { unsupported } from './unsupported-fields'
import { toCallerError, type ErrorSource, type UpstreamFailure } from './upstream-error'
import { invalidRequest, type ApiError } from '../errors'
import type { JsonObject } from '../wire/json-body'
import type { SpeechFormat } from '../wire/speech-format'
import type { SpeechRequest } from '../wire/speech-request'
import { charactersOf } from '../wire/text-size'
import type { Usage } from '../wire/usage'

/** The candidate for which a request is written. */
export interface SpeechTarget {
  upstreamModel: string
  options: RelayOptions
  /** The format of the answer, of those that the form makes. */
  format: SpeechFormat
  /** Whether the provider is to answer with events, whose last has the usage. */
  asEvents: boolean
}

/** A request as the provider takes it, behind its base URL and without its credential. */
export interface UpstreamSpeech {
  path?: string
  body: JsonObject
}

/** The content of an event of a provider that answers with events. */
export interface SpeechEvent {
  /** Sound as a binary string. */
  sound?: string
  /** Samples a second, where the sound is PCM. */
  sampleRate?: number
  usage?: Usage | undefined
  /** Nothing follows. */
  isLast?: boolean
}

/** How one kind of provider speaks. */
export interface SpeechForm {
  /** The formats that it makes. */
  formats: readonly SpeechFormat[]
  /** The format of requests that name none. */
  usualFormat: SpeechFormat
  /** Never answers with the bytes of a format. */
  eventsOnly: boolean
  /** Its sound is PCM without a header, which is to be put before it where the format has one. */
  needsHeader: (format: SpeechFormat) => boolean
  /** The most characters of a text; undefined where that is unknown. */
  maxCharacters: (target: Pick<SpeechTarget, 'upstreamModel' | 'options'>) => number | undefined
  /** Fields that it does not have. */
  omits: readonly (keyof SpeechRequest)[]
  /** Writes the request. Throws `invalid_request`. `body`: the request as it arrived. */
  write: (request: SpeechRequest, body: JsonObject, target: SpeechTarget) => UpstreamSpeech
  /** Reads an event's `data`. Throws the error that it stands for. */
  read: (data: string, source: ErrorSource) => SpeechEvent
  /** Translates a refusal for the caller. */
  toError: (refusal: UpstreamFailure, source: ErrorSource) => ApiError
}

/** The usual properties of a form that answers with bytes. */
export const soundOnly = {
  eventsOnly: false,
  read: (data: string, source: ErrorSource) => {
    throw toCallerError({ status: 200, body: parseText(data) }, source)
  },
  toError: toCallerError,
} as const

function parseText(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return data
  }
}

/** Returns the format to ask for. Throws `invalid_request` where the provider does not make it. */
export function chooseFormat(
  { formats, usualFormat }: Pick<SpeechForm, 'formats' | 'usualFormat'>,
  requestedFormat: SpeechFormat | null | undefined,
): SpeechFormat {
  const format = requestedFormat ?? usualFormat
  if (formats.includes(format)) return format
  throw unsupported(
    'response_format',
    `response_format: this model makes ${formats.join(', ')}, not ${format}.`,
  )
}

/** Throws `invalid_request` for a text that is longer than its provider takes. */
export function checkLength(input: string, maxCharacters: number | undefined): void {
  if (maxCharacters === undefined || input.length <= maxCharacters) return
  const count = charactersOf(input)
  if (count <= maxCharacters) return
  throw invalidRequest(
    'input',
    'too_long',
    `input: has ${count} characters; this model takes up to ${maxCharacters}.`,
  )
}

/** The error of a request that names no voice, for a provider that has no usual one. */
export const voiceRequired = () =>
  invalidRequest('voice', 'required', 'voice: this model needs the name of a voice.')

/** The error of a voice that cannot be the name of one. */
export const wrongVoice = (message: string) => invalidRequest('voice', 'bad_format', message)
