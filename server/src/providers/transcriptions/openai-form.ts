import {
  toMs,
  toSeconds,
  type Transcribing,
  type TranscriptionAnswer,
  type TranscriptionFormat,
  type TranscriptionUsage,
} from './format'
import { invalidAnswer } from '../upstream-error'
import { isObject, toObjects, toText, type JsonObject } from '../../wire/json-body'
import type { OutgoingField } from '../../wire/outgoing-content'
import type { TimedText, TranscriptFormat } from '../../wire/transcript'
import { toFormFields } from '../../wire/transcription-request'
import { readUsage, type Usage } from '../../wire/usage'

/**
 * The format to request of a provider: one with counts. Tollgate makes texts and subtitles from it, as those have none.
 */
const sentFormats: Readonly<Record<TranscriptFormat, TranscriptFormat>> = {
  json: 'json',
  text: 'json',
  srt: 'verbose_json',
  vtt: 'verbose_json',
  verbose_json: 'verbose_json',
  diarized_json: 'diarized_json',
}

/** https://platform.openai.com/docs/api-reference/audio; Azure, Groq, Together, Fireworks, vLLM and faster-whisper. */
export const openAiForm: TranscriptionFormat = {
  translates: true,
  foreignFields: [],
  write: (request) => ({ content: { fields: fieldsOf(request, openAiFields(request)) } }),
  read: (answer, request, source) => {
    const { text } = answer
    if (typeof text !== 'string') throw invalidAnswer(source.provider, 'no transcript')
    return {
      ...readForm(answer, text),
      body: sentFormats[request.format] === request.format ? answer : undefined,
    }
  },
}

const openAiFields = ({ format, streams }: Transcribing): JsonObject => ({
  response_format: sentFormats[format],
  ...(streams && { stream: true }),
})

/** https://docs.mistral.ai/api/endpoint/audio/transcriptions: no formats, but segments on request. */
export const mistralForm: TranscriptionFormat = {
  translates: false,
  foreignFields: ['prompt', 'include', 'chunking_strategy', 'keywords', 'languages'],
  write: (request) => ({ content: { fields: fieldsOf(request, mistralFields(request)) } }),
  // Its objects lack what those of OpenAI have.
  read: (answer, request, source) => ({
    ...openAiForm.read(answer, request, source),
    body: undefined,
  }),
}

const mistralFields = ({ format, params }: Transcribing): JsonObject => ({
  response_format: null,
  ...(format !== 'json' &&
    format !== 'text' && {
      timestamp_granularities: params.timestamp_granularities ?? ['segment'],
    }),
  ...(format === 'diarized_json' && { diarize: true }),
})

/** The fields of a request, the file last: a provider can reject the others before it has read the file. */
function fieldsOf(request: Transcribing, own: JsonObject): OutgoingField[] {
  const { file: _file, stream: _stream, ...rest } = request.body
  const body: JsonObject = { ...rest, model: request.upstreamModel, ...own }
  for (const name of request.drop) delete body[name]
  return [...toFormFields(body), ['file', request.params.file]]
}

function readForm(answer: JsonObject, text: string): TranscriptionAnswer {
  const { language, duration } = answer
  return {
    transcript: {
      text,
      language: typeof language === 'string' ? language : undefined,
      duration: typeof duration === 'number' ? duration : undefined,
      words: toObjects(answer['words']).map((word) => toTimed(word, word['word'])),
      segments: toObjects(answer['segments']).map((segment) => toTimed(segment, segment['text'])),
    },
    usage: readTranscriptionUsage(answer),
  }
}

function toTimed(item: JsonObject, text: unknown): TimedText {
  const speaker = item['speaker'] ?? item['speaker_id']
  return {
    text: toText(text),
    start: toSeconds(item['start']),
    end: toSeconds(item['end']),
    ...(typeof speaker === 'string' && { speaker }),
    ...(typeof speaker === 'number' && { speaker: String(speaker) }),
  }
}

/** Reads the counts of an answer, or of the last event of a stream. */
export function readTranscriptionUsage({ usage: block, duration }: JsonObject): TranscriptionUsage {
  const usage = isObject(block) ? block : {}
  const seconds = usage['seconds'] ?? usage['prompt_audio_seconds'] ?? duration
  return { tokens: readTokens(usage), audioMs: toMs(seconds) }
}

/** OpenAI counts tokens here by other names than in chat. */
function readTokens(usage: JsonObject): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = usage
  if (input === undefined && output === undefined) return readUsage(usage, 'inside')
  return readUsage(
    {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: usage['total_tokens'],
      prompt_tokens_details: usage['input_token_details'] ?? usage['input_tokens_details'],
    },
    'inside',
  )
}
