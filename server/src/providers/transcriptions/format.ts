import type { ErrorSource, UpstreamFailure } from '../upstream-error'
import type { ApiError } from '../../errors'
import type { JsonObject } from '../../wire/json-body'
import type { OutgoingContent, OutgoingField } from '../../wire/outgoing-content'
import type { Transcript, TranscriptFormat } from '../../wire/transcript'
import type { TranscriptionRequest } from '../../wire/transcription-request'
import type { UploadedFile } from '../../wire/uploaded-file'
import type { Usage } from '../../wire/usage'

/** A request for a transcript, as it is written for a provider. */
export interface Transcribing {
  upstreamModel: string
  task: 'transcribe' | 'translate'
  /** The fields that the attempt pays for. */
  body: JsonObject
  params: TranscriptionRequest
  /** The format that the caller wants. */
  format: TranscriptFormat
  /** The caller wants events, and gets those of the provider where it has them. */
  streams: boolean
  /** Fields that the provider does not know. */
  drop: readonly string[]
}

/** The written request: a form, the file alone with everything else in its path, or a whole body. */
export interface WrittenTranscription {
  path?: string | undefined
  content: { fields: readonly OutgoingField[] } | { file: UploadedFile } | { body: OutgoingContent }
}

/** A provider's counts of a transcription. */
export interface TranscriptionUsage {
  /** Undefined where it counts none. */
  tokens: Usage | undefined
  /** Milliseconds of sound; undefined where it does not say. */
  audioMs: number | undefined
}

/** An answer of any provider. */
export interface TranscriptionAnswer {
  transcript: Transcript
  /** The answer itself, where it has the caller's format already. */
  body?: JsonObject | undefined
  usage: TranscriptionUsage
}

/** How one kind of provider wants its requests, and answers them. */
export interface TranscriptionFormat {
  /** Whether it translates to English. */
  translates: boolean
  /** The times of words may be tokens of its answer. */
  writesTimes?: true
  /** Fields of the API that have no counterpart there, though they tune the answer. */
  foreignFields: readonly string[]
  write: (request: Transcribing) => WrittenTranscription
  /** Throws `provider_error` where the answer is none. */
  read: (answer: JsonObject, request: Transcribing, source: ErrorSource) => TranscriptionAnswer
  /** Translates a refusal, where it has not the form of OpenAI's. */
  toError?: (refusal: UpstreamFailure, source: ErrorSource) => ApiError
}

const maxSeconds = 1_000_000

/** A time in seconds as milliseconds, rounded up; undefined where it is none. */
export const toMs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && seconds >= 0 && seconds <= maxSeconds
    ? Math.ceil(Number((seconds * 1000).toFixed(3)))
    : undefined

/** A time in seconds; zero for anything else. */
export const toSeconds = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value <= maxSeconds ? value : 0
