import { z } from 'zod'
import { maybe, modelField, text } from './fields'
import { isObject, type JsonObject } from './json-body'
import { transcriptFormats } from './transcript'
import { UploadedFile } from './uploaded-file'
import { invalidRequest } from '../errors'

const maxPrompt = 100_000
const File = z.custom<UploadedFile>((value) => value instanceof UploadedFile)

const shared = {
  model: modelField,
  language: maybe(text(64)).describe('ISO 639-1, such as `de`; detected where absent'),
  prompt: maybe(text(maxPrompt)).describe('Words and style that the transcript continues'),
  response_format: maybe(z.enum(transcriptFormats)).describe('`json` by default'),
  temperature: maybe(z.number().min(0).max(2)),
  timestamp_granularities: maybe(z.array(z.enum(['word', 'segment'])).max(2)).describe(
    'Times in `verbose_json`; segments by default',
  ),
  stream: maybe(z.boolean()).describe(
    'Answer as server-sent events: `transcript.text.delta`, then `transcript.text.done`',
  ),
}

/** `POST /v1/audio/transcriptions`, as it is checked. Source: contract 4.14. */
export const TranscriptionRequest = z.looseObject({ ...shared, file: File })
export type TranscriptionRequest = z.output<typeof TranscriptionRequest>

/** The same as a form, for its description. */
export const TranscriptionForm = z.looseObject({
  file: z.string().meta({ format: 'binary' }).describe('Sound or video, with a file name'),
  ...shared,
  include: maybe(z.array(text(64)).max(16)).describe('`logprobs`, of models that have them'),
})

const {
  language: _language,
  timestamp_granularities: _times,
  stream: _stream,
  ...translationFields
} = shared

/** `POST /v1/audio/translations` as a form. */
export const TranslationForm = z.looseObject({
  file: z.string().meta({ format: 'binary' }).describe('Sound or video, with a file name'),
  ...translationFields,
})

const booleans: Readonly<Record<string, boolean>> = { true: true, false: false, 1: true, 0: false }
/** Some clients send a single value of a list without brackets. */
const lists = [
  'timestamp_granularities',
  'include',
  'languages',
  'keywords',
  'known_speaker_names',
  'known_speaker_references',
]

/** Gives the texts of a form the types that their fields have; empty ones are absent. Throws `invalid_request`. */
export function readTranscriptionForm(form: JsonObject): JsonObject {
  const body: JsonObject = {}
  for (const [name, value] of Object.entries(form)) {
    if (value === '' && name !== 'model') continue
    body[name] = lists.includes(name) && !Array.isArray(value) ? [value] : value
  }
  const { temperature, stream, file } = body
  if (typeof temperature === 'string' && temperature.trim() !== '')
    body['temperature'] = Number.isNaN(Number(temperature)) ? temperature : Number(temperature)
  if (typeof stream === 'string') body['stream'] = booleans[stream.toLowerCase()] ?? stream
  if (!(file instanceof UploadedFile))
    throw invalidRequest('file', 'required', 'file: this field is required, as a file.')
  checkSound(file)
  return body
}

const soundTypes = /^(audio|video)\/|^application\/(octet-stream|ogg|mp4|x-\w+)$|^$/
const soundNames =
  /\.(aac|aiff?|amr|caf|flac|m4a|m4b|mka|mkv|mov|mp2|mp3|mp4|mpeg|mpga|oga|ogg|opus|wav|weba|webm|wma)$/i

/** Returns whether a name of a file ends as those of sound and video do. */
export const isSoundName = (name: string): boolean => soundNames.test(name)

/** Throws `invalid_request` for a file that says itself that it has no sound. */
function checkSound({ type, name }: UploadedFile): void {
  if (soundTypes.test(type) || isSoundName(name)) return
  throw invalidRequest(
    'file',
    'wrong_type',
    `file: must be sound or video, and not ${type.slice(0, 80)}.`,
  )
}

/** The bytes of the texts that a model reads beside the sound, and of voices that it compares with it. */
export function measureFields({
  file: _file,
  model: _model,
  known_speaker_references: voices,
  ...fields
}: JsonObject): { textBytes: number; voiceBytes: number } {
  return {
    textBytes: Buffer.byteLength(JSON.stringify(fields)),
    voiceBytes: voices === undefined ? 0 : Buffer.byteLength(JSON.stringify(voices)),
  }
}

/** Whether `verbose_json` is to have times of words, and of segments. */
export function wantedTimes({
  timestamp_granularities: granularities,
}: Pick<TranscriptionRequest, 'timestamp_granularities'>) {
  const words = granularities?.includes('word') === true
  return { words, segments: !words || (granularities ?? []).includes('segment') }
}

/** Writes the fields of a request as a form has them. Nested objects have one level, as in the API. */
export function* toFormFields(
  body: JsonObject,
): Generator<readonly [string, string | UploadedFile]> {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || value === undefined) continue
    if (Array.isArray(value)) for (const item of value) yield [`${name}[]`, toFieldText(item)]
    else if (value instanceof UploadedFile) yield [name, value]
    else if (isObject(value)) {
      for (const [key, item] of Object.entries(value)) yield [`${name}[${key}]`, toFieldText(item)]
    } else yield [name, toFieldText(value)]
  }
}

const toFieldText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)
