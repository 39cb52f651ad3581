import { z } from 'zod'
import { toAudioName } from './content'
import { toGoogleError } from './failure'
import { toModelPath } from './model-name'
import { readGoogleUsage } from './usage'
import type {
  Transcribing,
  TranscriptionFormat,
  WrittenTranscription,
} from '../transcriptions/format'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, type ErrorSource } from '../upstream-error'
import type { JsonObject } from '../../wire/json-body'
import { toJsonWithFile } from '../../wire/outgoing-content'
import { hasTimes, toSegments, type TimedText, type Transcript } from '../../wire/transcript'
import type { UploadedFile } from '../../wire/uploaded-file'

const Word = z.looseObject({
  word: z.string(),
  startOffset: z.string().optional(),
  endOffset: z.string().optional(),
})
const Part = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  audioTranscription: z
    .looseObject({
      text: z.string().optional(),
      languageCode: z.string().optional(),
      speakerLabel: z.string().optional(),
      words: z.array(Word).default([]),
    })
    .optional(),
})
type Part = z.output<typeof Part>

const Answer = z.looseObject({
  candidates: z
    .array(
      z.looseObject({
        content: z.looseObject({ parts: z.array(Part).default([]) }).optional(),
        finishReason: z.string().optional(),
      }),
    )
    .default([]),
  promptFeedback: z.looseObject({ blockReason: z.string().optional() }).optional(),
  usageMetadata: z.unknown().optional(),
})

/**
 * Gemini's models that transcribe, below `home`: the file stands in the request as base64.
 * @see https://ai.google.dev/gemini-api/docs/generate-content/transcribe
 * @see https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/gemini/3-5-transcribe
 */
export const transcriptionsOfGoogle = (
  home: string,
  nameOf: (model: string) => string,
): TranscriptionFormat => ({
  translates: false,
  writesTimes: true,
  foreignFields: [
    'prompt',
    'temperature',
    'include',
    'chunking_strategy',
    'known_speaker_names',
    'known_speaker_references',
  ],
  write: (request) =>
    writeRequest(request, `${home}/${toModelPath(nameOf(request.upstreamModel))}`),
  read: (answer, request, source) => {
    const parsed = Answer.safeParse(answer)
    if (!parsed.success) throw invalidAnswer(source.provider, 'no transcript', parsed.error)
    return {
      transcript: toTranscript(readParts(parsed.data, source), request.params.file),
      usage: { tokens: readGoogleUsage(parsed.data.usageMetadata), audioMs: undefined },
    }
  },
  toError: toGoogleError,
})

/** Gemini's models that transcribe, by the Gemini API. */
export const googleTranscriptions = transcriptionsOfGoogle('/models', (model) => model)

function writeRequest(request: Transcribing, path: string): WrittenTranscription {
  const { file } = request.params
  const body = (data: string): JsonObject => ({
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: toMimeType(file), data } }] }],
    generationConfig: { audioTranscriptionConfig: toConfig(request) },
  })
  return { path: `${path}:generateContent`, content: { body: toJsonWithFile(body, file) } }
}

/** @see https://github.com/googleapis/js-genai, `AudioTranscriptionConfig` */
function toConfig({ body, params, format }: Transcribing): JsonObject {
  const { languages, keywords } = body
  const languageCodes = params.language ? [params.language] : languages
  return {
    ...(Array.isArray(languageCodes) && { languageCodes }),
    ...(Array.isArray(keywords) && { customVocabulary: keywords }),
    // Times make the text worse there.
    ...(hasTimes(format) && { wordTimestamp: true }),
    ...(format === 'diarized_json' && { diarization: true }),
  }
}

/** Returns the type of the file as Google names it, by the client's type, else by the file's name. */
function toMimeType({ type, name }: UploadedFile): string {
  const subtype = /^(?:audio|video)\/([\w.+-]+)/.exec(type)?.[1] ?? ''
  const ending = /\.(\w+)$/.exec(name)?.[1] ?? ''
  const format = toAudioName(subtype) ?? toAudioName(ending)
  if (format) return `audio/${format}`
  throw unsupported('file', 'file: this model does not accept sound of this format.')
}

function readParts(
  { candidates, promptFeedback }: z.output<typeof Answer>,
  source: ErrorSource,
): Part[] {
  if (promptFeedback?.blockReason) {
    const message = `The request was blocked: ${promptFeedback.blockReason}`
    throw toGoogleError({ status: 400, body: { error: { message } } }, source)
  }
  const [candidate] = candidates
  const parts = (candidate?.content?.parts ?? []).filter(({ thought }) => !thought)
  const reason = candidate?.finishReason
  // Of silence there is no part.
  if (parts.length > 0 || reason === 'STOP') return parts
  throw invalidAnswer(source.provider, `no transcript: ${reason ?? 'without a reason'}`)
}

function toTranscript(parts: readonly Part[], { sound }: UploadedFile): Transcript {
  const duration = sound?.isMeasured ? sound.ms / 1000 : undefined
  const words = parts.flatMap(wordsOf)
  const text = parts.reduce(joinPart, '').trim()
  const whole = { text, start: 0, end: duration ?? 0 }
  return {
    text,
    language: parts.find(({ audioTranscription: one }) => one?.languageCode)?.audioTranscription
      ?.languageCode,
    duration: duration ?? words.at(-1)?.end,
    words,
    segments: words.length > 0 || text === '' ? toSegments(words) : [whole],
  }
}

function wordsOf({ audioTranscription: utterance }: Part): TimedText[] {
  const { words = [], speakerLabel: speaker } = utterance ?? {}
  return words.map(({ word, startOffset, endOffset }) => ({
    text: word,
    start: readOffset(startOffset),
    end: readOffset(endOffset),
    ...(speaker !== undefined && { speaker }),
  }))
}

/** Joins the pieces of a text as they are, and utterances by a space. */
function joinPart(before: string, { text, audioTranscription: utterance }: Part): string {
  const piece = text ?? utterance?.text ?? ''
  const isApart = !utterance || before === '' || /\s$/.test(before) || /^\s/.test(piece)
  return isApart ? before + piece : `${before} ${piece}`
}

/** `9.400s`, as seconds. */
const readOffset = (offset: string | undefined): number =>
  Number(/^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(offset ?? '')?.[1] ?? 0)
